//! Keys of a terminal and of a script.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::cli::Failure;

/// A key with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    /// Control and C: quit at once.
    Interrupt,
}

/// Names of keys in a script; anything else is typed letter by letter.
const NAMES: [(&str, Key); 16] = [
    ("enter", Key::Enter),
    ("esc", Key::Escape),
    ("backspace", Key::Backspace),
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("home", Key::Home),
    ("end", Key::End),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
    ("space", Key::Char(' ')),
    ("help", Key::Char('?')),
    ("quit", Key::Char('q')),
    ("back", Key::Left),
    ("next", Key::Right),
];

/// Parses a script: key names and letters between blanks; a semicolon is enter.
pub(crate) fn parse(script: &str) -> Result<Vec<Key>, Failure> {
    let mut keys = Vec::new();
    for word in script.split_whitespace() {
        match NAMES.iter().find(|(name, _)| *name == word) {
            Some(&(_, key)) => keys.push(key),
            None if word.chars().any(char::is_control) => {
                return Err(Failure::new(format!("--script: unknown key {word:?}")));
            }
            None => {
                keys.extend(word.chars().map(|c| if c == ';' { Key::Enter } else { Key::Char(c) }))
            }
        }
    }
    Ok(keys)
}

impl Key {
    /// Returns the key of a terminal event, if it is one.
    pub(crate) fn from_event(event: KeyEvent) -> Option<Key> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event.modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(event.code, KeyCode::Char('c' | 'd')).then_some(Key::Interrupt);
        }
        Some(match event.code {
            KeyCode::Char(c) => Key::Char(c),
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Escape,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_names_and_letters() {
        let keys = parse("10n d;  end space").ok().expect("a sound script");
        let typed = [Key::Char('1'), Key::Char('0'), Key::Char('n'), Key::Char('d')];
        assert_eq!(keys, [&typed[..], &[Key::Enter, Key::End, Key::Char(' ')]].concat());
        assert!(parse("n \u{1}").is_err());
    }
}
