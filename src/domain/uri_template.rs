//! URI templates (RFC 6570): the variables that a form asks for, and the URI that the filled-in
//! form makes. All operators and levels, explode and prefix included.
//!
//! A template comes from a server: whatever it is, reading and expanding it end soon, and what
//! comes out is bounded.

mod expand;

use std::collections::BTreeMap;

/// A template of more variables is refused: no form asks for them.
const MOST_VARIABLES: usize = 64;

/// A longer URI is refused, in bytes. Far more than any server takes.
const LONGEST_URI: usize = 65_536;

/// A template whose syntax is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<Part>,
    variables: Vec<Variable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Expression(Operator, Vec<Spec>),
}

/// One place of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spec {
    name: String,
    modifier: Modifier,
}

/// RFC 6570, section 2.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    None,
    /// `:n`: the first characters, 1 to 9,999.
    Prefix(usize),
    /// `*`: a list or pairs come apart.
    Explode,
}

/// One variable of a template, as a form asks for it, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name, as the template writes it.
    pub name: String,
    /// Whether the URI has a gap without it: it is part of a path or of the text, and not one of
    /// the parameters that a server has a default for.
    pub required: bool,
    /// Whether a list or pairs come apart in it (`*`).
    pub explodes: bool,
}

/// The operators of RFC 6570, section 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `{x}`: everything but unreserved characters is percent-encoded.
    Simple,
    /// `{+x}`: reserved characters such as `/` stay.
    Reserved,
    /// `{#x}`: a fragment.
    Fragment,
    /// `{.x}`: a label behind a dot.
    Label,
    /// `{/x}`: a path segment.
    Path,
    /// `{;x}`: a path parameter.
    Parameter,
    /// `{?x}`: the query.
    Query,
    /// `{&x}`: the query goes on.
    Continuation,
}

/// A piece of a URI that is being filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// What the template says.
    Literal(String),
    /// What was filled in.
    Value(String),
    /// What has to be filled in: `{id}`.
    Gap(String),
}

/// A template that cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It breaks the grammar at this byte, counted from 1.
    #[error("the template breaks the syntax of RFC 6570 at byte {0}")]
    Syntax(usize),
    /// It has too many variables for a form.
    #[error("the template has more than {MOST_VARIABLES} variables")]
    Variables,
    /// A list or pairs, of which there is no beginning (RFC 6570, section 2.4.1).
    #[error("only the beginning of {0} is used: write one text, no list")]
    PrefixOfMany(String),
    /// The URI would be endless.
    #[error("the URI is longer than {LONGEST_URI} bytes")]
    Long,
}

/// What a variable stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One text, which may be empty.
    Text(String),
    /// Several; none is as if there were no value.
    List(Vec<String>),
    /// Names with values; none is as if there were no value.
    Pairs(Vec<(String, String)>),
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// When it breaks the grammar of RFC 6570, section 2, or has too many variables. Characters
    /// that may not stand in a URI are no error: they are percent-encoded, as in a value.
    pub fn new(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let place = |at: usize| TemplateError::Syntax(text.len() - rest.len() + at + 1);
            let Some(braces) = rest.strip_prefix('{') else {
                let end = rest.find('{').unwrap_or(rest.len());
                let (literal, behind) = rest.split_at(end);
                if let Some(at) = literal.find('}') {
                    return Err(place(at));
                }
                parts.push(Part::Literal(literal.to_owned()));
                rest = behind;
                continue;
            };
            let (expression, behind) = braces.split_once('}').ok_or_else(|| place(0))?;
            parts.push(Part::read(expression).ok_or_else(|| place(1))?);
            rest = behind;
        }
        let variables = variables(&parts)?;
        Ok(Self { parts, variables })
    }

    /// Its variables, each once, in order.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The URI with these values; a variable without one is left out, as section 3.2.1 of the RFC
    /// says.
    ///
    /// # Errors
    /// When a variable of which only the beginning is used has more than one text, or the URI
    /// were endless.
    pub fn expand(&self, values: &BTreeMap<String, Value>) -> Result<String, TemplateError> {
        let mut uri = String::new();
        for piece in self.pieces(values)? {
            match piece {
                Piece::Literal(text) | Piece::Value(text) => uri.push_str(&text),
                Piece::Gap(_) => {}
            }
        }
        Ok(uri)
    }

    /// The URI with these values in pieces, so that it can be seen where each comes from and what
    /// is still missing. Without the gaps it is what [`UriTemplate::expand`] makes.
    ///
    /// # Errors
    /// As for [`UriTemplate::expand`].
    pub fn pieces(&self, values: &BTreeMap<String, Value>) -> Result<Vec<Piece>, TemplateError> {
        let mut pieces = Vec::new();
        let mut length = 0;
        for part in &self.parts {
            let mut text = String::new();
            let (piece, gap) = match part {
                Part::Literal(literal) => {
                    expand::encode(&mut text, literal, true);
                    (Piece::Literal(text), None)
                }
                Part::Expression(operator, specs) => {
                    operator.expand(&mut text, specs, values)?;
                    (Piece::Value(text), operator.gap(specs, values))
                }
            };
            length += piece.text().len();
            if length > LONGEST_URI {
                return Err(TemplateError::Long);
            }
            let seen = [Some(piece), gap].into_iter().flatten();
            pieces.extend(seen.filter(|piece| !piece.text().is_empty()));
        }
        Ok(pieces)
    }
}

impl Piece {
    /// What it says.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Value(text) | Self::Gap(text) => text,
        }
    }
}

impl Variable {
    /// What the text of a form's field means: nothing where it is empty, and where the variable
    /// explodes, `a, b` is a list and `a=1, b=2` are pairs.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<Value> {
        if field.is_empty() {
            return None;
        }
        if !self.explodes {
            return Some(Value::Text(field.to_owned()));
        }
        let parts = || field.split(',').map(str::trim);
        let pairs: Option<Vec<(String, String)>> = parts()
            .map(|part| part.split_once('='))
            .map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect();
        let list = || Value::List(parts().map(str::to_owned).collect());
        Some(pairs.map_or_else(list, Value::Pairs))
    }
}

/// What a form asks for.
fn variables(parts: &[Part]) -> Result<Vec<Variable>, TemplateError> {
    let mut variables: Vec<Variable> = Vec::new();
    for part in parts {
        let Part::Expression(operator, specs) = part else {
            continue;
        };
        for spec in specs {
            let variable = Variable {
                name: spec.name.clone(),
                required: operator.leaves_a_gap(),
                explodes: spec.modifier == Modifier::Explode,
            };
            if let Some(known) = variables.iter_mut().find(|it| it.name == variable.name) {
                known.required |= variable.required;
                known.explodes |= variable.explodes;
            } else if variables.len() == MOST_VARIABLES {
                return Err(TemplateError::Variables);
            } else {
                variables.push(variable);
            }
        }
    }
    Ok(variables)
}

impl Part {
    /// Reads what stands between braces; none where it breaks the grammar.
    fn read(expression: &str) -> Option<Self> {
        let (operator, names) = Operator::split(expression);
        let specs: Option<Vec<Spec>> = names.split(',').map(Spec::read).collect();
        Some(Self::Expression(operator, specs?))
    }
}

impl Spec {
    fn read(text: &str) -> Option<Self> {
        let (name, modifier) = if let Some(name) = text.strip_suffix('*') {
            (name, Modifier::Explode)
        } else if let Some((name, digits)) = text.split_once(':') {
            let is_length = digits.len() <= 4
                && digits.bytes().all(|it| it.is_ascii_digit())
                && !digits.starts_with('0');
            let length = digits.parse().ok().filter(|_| is_length)?;
            (name, Modifier::Prefix(length))
        } else {
            (text, Modifier::None)
        };
        let name = is_name(name).then(|| name.to_owned())?;
        Some(Self { name, modifier })
    }
}

/// RFC 6570, section 2.3; a hyphen is taken too: servers write it, and it can mean nothing else.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut rest = part.bytes();
        while let Some(byte) = rest.next() {
            let is_fine = match byte {
                b'%' => (0..2).all(|_| rest.next().is_some_and(|it| it.is_ascii_hexdigit())),
                _ => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
            };
            if !is_fine {
                return false;
            }
        }
        !part.is_empty()
    };
    name.split('.').all(is_part)
}

impl Operator {
    /// Splits an expression into its operator and its names.
    fn split(expression: &str) -> (Self, &str) {
        let operator = match expression.as_bytes().first() {
            Some(b'+') => Self::Reserved,
            Some(b'#') => Self::Fragment,
            Some(b'.') => Self::Label,
            Some(b'/') => Self::Path,
            Some(b';') => Self::Parameter,
            Some(b'?') => Self::Query,
            Some(b'&') => Self::Continuation,
            _ => return (Self::Simple, expression),
        };
        (operator, &expression[1..])
    }

    /// What of the variables of an expression is missing in the URI.
    fn gap(self, specs: &[Spec], values: &BTreeMap<String, Value>) -> Option<Piece> {
        let missing = specs.iter().map(|spec| spec.name.as_str());
        let missing: Vec<&str> = missing.filter(|it| !values.contains_key(*it)).collect();
        let is_gap = self.leaves_a_gap() && !missing.is_empty();
        is_gap.then(|| Piece::Gap(format!("{{{}}}", missing.join(","))))
    }

    /// Whether the URI has a gap where such a variable is left out.
    const fn leaves_a_gap(self) -> bool {
        match self {
            Self::Simple | Self::Reserved | Self::Label | Self::Path => true,
            Self::Fragment | Self::Parameter | Self::Query | Self::Continuation => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_asks_for_each_variable_once() {
        let shown = |template: &str| -> Vec<String> {
            let template = UriTemplate::new(template).unwrap();
            let shown = template.variables().iter().map(|it| {
                let name = &it.name;
                let required = if it.required { "!" } else { "" };
                let explodes = if it.explodes { "*" } else { "" };
                format!("{name}{required}{explodes}")
            });
            shown.collect()
        };
        assert_eq!(shown("file:///a"), Vec::<String>::new());
        assert_eq!(shown("file:///{path}"), ["path!"]);
        assert_eq!(
            shown("db://{+table}{/row:3}{?limit,tags*}{&more}{#part}"),
            ["table!", "row!", "limit", "tags*", "more", "part"]
        );
        assert_eq!(shown("{?x}{x*,y.z,user-id}"), ["x!*", "y.z!", "user-id!"]);
    }

    #[test]
    fn a_field_is_a_text_a_list_or_pairs() {
        let value = |template: &str, field: &str| {
            let template = UriTemplate::new(template).unwrap();
            let variable = &template.variables()[0];
            let values = variable.value(field).map(|it| (variable.name.clone(), it));
            template.expand(&values.into_iter().collect()).unwrap()
        };
        assert_eq!(value("a{?x}", ""), "a");
        assert_eq!(value("a{?x}", "1, 2"), "a?x=1%2C%202");
        assert_eq!(value("a{?x*}", "1, 2"), "a?x=1&x=2");
        assert_eq!(value("a{?x*}", "p=1, q=2"), "a?p=1&q=2");
        assert_eq!(value("a{?x*}", "p=1, 2"), "a?x=p%3D1&x=2");
        assert_eq!(value("a{/x:2}", "über"), "a/%C3%BCb");
        // What may not stand in a URI is encoded, and what is encoded already is not again.
        assert_eq!(value("a b%20%{+x}", "%41%4"), "a%20b%20%25%41%254");
    }

    #[test]
    fn what_is_missing_is_a_gap() {
        let shown = |template: &str, filled: &[&str]| -> String {
            let template = UriTemplate::new(template).unwrap();
            let value = |name: &&str| ((*name).to_owned(), Value::Text("1 2".to_owned()));
            let values = filled.iter().map(value).collect();
            let pieces = template.pieces(&values).unwrap().into_iter();
            pieces
                .map(|piece| match piece {
                    Piece::Literal(text) => text,
                    Piece::Value(text) => format!("<{text}>"),
                    Piece::Gap(text) => format!("!{text}"),
                })
                .collect()
        };
        assert_eq!(shown("a:{x}/b{?y}", &[]), "a:!{x}/b");
        assert_eq!(shown("a:{x}/b{?y}", &["x"]), "a:<1%202>/b");
        assert_eq!(shown("a:{x}/b{?y}", &["x", "y"]), "a:<1%202>/b<?y=1%202>");
        assert_eq!(shown("a{/x,y,z}", &["y"]), "a</1%202>!{x,z}");
        assert_eq!(shown("a{#y}{+x:3}", &[]), "a!{x}");
    }

    #[test]
    fn what_cannot_be_expanded_says_why() {
        let broken = [
            ("{", 1),
            ("a}", 2),
            ("é{}", 4),
            ("{a}{a b}", 5),
            ("{a:0}", 2),
            ("{a:}", 2),
            ("{a:10000}", 2),
            ("{a:+1}", 2),
            ("{=a}", 2),
            ("{a,}", 2),
            ("{a..b}", 2),
            ("{%zz}", 2),
            ("{a{b}}", 2),
        ];
        for (template, place) in broken {
            let error = UriTemplate::new(template).unwrap_err();
            assert_eq!(error, TemplateError::Syntax(place), "{template}");
        }
        let many: Vec<String> = (0..65).map(|number| format!("x{number}")).collect();
        let many = format!("{{{}}}", many.join(","));
        assert_eq!(UriTemplate::new(&many), Err(TemplateError::Variables));
        let long = UriTemplate::new(&"{x}".repeat(100_000)).unwrap();
        let values = [("x".to_owned(), Value::Text("x".repeat(1_000)))];
        assert_eq!(long.expand(&values.into()), Err(TemplateError::Long));
        let template = UriTemplate::new("{x:3}").unwrap();
        let values = [("x".to_owned(), Value::List(vec!["a".to_owned()]))];
        assert_eq!(
            template.expand(&values.into()),
            Err(TemplateError::PrefixOfMany("x".to_owned()))
        );
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(template in "[a-z{}+#./;?&,*:0-9 %é]{0,24}", field in ".{0,12}") {
            if let Ok(template) = UriTemplate::new(&template) {
                let values = template.variables().iter().filter_map(|it| {
                    Some((it.name.clone(), it.value(&field)?))
                });
                let _ = template.expand(&values.collect());
            }
        }

    }
}
