//! The sanitizer.
