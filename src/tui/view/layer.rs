//! A layer over the panes.

use ratatui::buffer::Buffer;

use super::{find, form, help, import, log_in, question, reader, welcome};
use crate::tui::layer::Layer;
use crate::tui::view_model::ViewModel;

/// Draws the layer, and says where the cursor belongs. A text field alone is in the footer.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, layer: &Layer) -> Option<(u16, u16)> {
    match layer {
        Layer::Form(form) => return form::draw(buffer, view, &form.sheet()),
        Layer::Add(add) => {
            let sheet = add.sheet_at(view.state, &view.clock);
            return form::draw(buffer, view, &sheet);
        }
        Layer::Filter(_) | Layer::Search(_) | Layer::Save(_) => {}
        Layer::Find(found) => find::draw(buffer, view, found),
        Layer::Import(import) => import::draw(buffer, view, import),
        Layer::Reader(reader) => reader::draw(buffer, view, reader),
        Layer::Help(offset) => help::draw(buffer, view, *offset),
        Layer::LogIn(log_in) => log_in::draw(buffer, view, log_in),
        Layer::Welcome(greeting) => welcome::draw(buffer, view, greeting),
        Layer::Question(question) => question::draw(buffer, view, question),
    }
    None
}
