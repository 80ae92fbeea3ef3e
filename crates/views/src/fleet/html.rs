//! HTML writer: texts are escaped, and markup is written by the functions here.

use std::fmt::Display;

use scene::markup::escape;

/// Fragment of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

/// Cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    Number(String),
    /// Finished markup.
    Markup(Html),
}

/// Returns the headings of a table from titles separated by `|`; a title after `#` is that of numbers.
pub(super) fn headings(titles: &str) -> Vec<Cell> {
    let cell = |title: &str| match title.strip_prefix('#') {
        Some(title) => Cell::Number(title.to_owned()),
        None => Cell::Text(title.to_owned()),
    };
    titles.split('|').map(cell).collect()
}

impl Html {
    /// Creates a fragment of a text.
    pub(super) fn text(text: impl Display) -> Self {
        Self(escape(&text.to_string()))
    }

    /// Creates an element with finished attributes.
    pub(super) fn element(name: &str, attributes: &str, inner: &Self) -> Self {
        let space = if attributes.is_empty() { "" } else { " " };
        Self(format!("<{name}{space}{attributes}>{}</{name}>", inner.0))
    }

    /// Creates an element that contains a text.
    pub(super) fn leaf(name: &str, attributes: &str, text: impl Display) -> Self {
        Self::element(name, attributes, &Self::text(text))
    }

    /// Creates a fragment of finished markup, in which every text is escaped.
    pub(super) const fn markup(markup: String) -> Self {
        Self(markup)
    }

    /// Writes an element on a line of its own.
    pub(super) fn add(&mut self, name: &str, attributes: &str, inner: &Self) {
        self.0.push_str(&Self::element(name, attributes, inner).0);
        self.0.push('\n');
    }

    /// Writes a text without an element.
    pub(super) fn add_text(&mut self, text: impl Display) {
        self.0.push_str(&escape(&text.to_string()));
    }

    /// Appends a fragment.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Writes a paragraph.
    pub(super) fn paragraph(&mut self, class: &str, text: impl Display) {
        let class = if class.is_empty() {
            String::new()
        } else {
            format!("class=\"{class}\"")
        };
        self.add("p", &class, &Self::text(text));
    }

    /// Writes a table that can be scrolled by keyboard; the first cell of a row is its heading.
    pub(super) fn table(
        &mut self,
        (class, caption): (&str, &str),
        head: &[Cell],
        rows: &[Vec<Cell>],
    ) {
        let label = escape(caption);
        let mut inner = Self::default();
        inner.add("caption", "", &Self::text(caption));
        let cells = head
            .iter()
            .map(|cell| cell.element("th", "scope=\"col\"").0);
        inner.0.push_str(&format!(
            "<thead><tr>{}</tr></thead>\n<tbody>\n",
            cells.collect::<String>()
        ));
        for row in rows {
            let cells = row.iter().enumerate().map(|(place, cell)| match place {
                0 => cell.element("th", "scope=\"row\"").0,
                _ => cell.element("td", "").0,
            });
            inner
                .0
                .push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
        }
        inner.0.push_str("</tbody>");
        let table = Self::element("table", &format!("class=\"{class}\""), &inner);
        self.add(
            "div",
            &format!("class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\""),
            &table,
        );
    }

    /// Returns the markup.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Cell {
    fn element(&self, name: &str, attributes: &str) -> Html {
        match self {
            Self::Text(text) => Html::leaf(name, attributes, text),
            Self::Number(text) => {
                let space = if attributes.is_empty() { "" } else { " " };
                Html::leaf(name, &format!("{attributes}{space}class=\"number\""), text)
            }
            Self::Markup(markup) => Html::element(name, attributes, markup),
        }
    }
}
