//! mcpdeck
