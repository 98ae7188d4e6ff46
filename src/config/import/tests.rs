use std::path::Path;

use super::*;

fn read_as(tool: Option<Tool>, path: &str, text: &str) -> Import {
    let environment = Environment::new([], Some("/home/ada".into()), "/code/notes".into());
    let input = ImportInput {
        path: Path::new(path),
        text,
        tool,
        scope: &Scope::User,
        platform: Platform::Unix,
        environment: &environment,
    };
    read(input).unwrap().unwrap_or_default()
}
