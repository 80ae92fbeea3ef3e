//! HTML writer; every text passes through it and is escaped.

use std::fmt::Write as _;

use scene::format;
use scene::markup::escape;

/// Fragment of a document.
#[derive(Debug, Default)]
pub(super) struct Html(String);

/// Column of a table, with its title.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    /// Column with texts.
    Text(&'static str),
    /// Column with numbers, aligned right.
    Number(&'static str),
}

/// Table; the first cell of each row is its heading.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
    /// Totals row.
    pub(super) all: Option<Vec<String>>,
}

impl Table {
    /// Creates a table without totals.
    pub(super) fn new(
        caption: impl Into<String>,
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            caption: caption.into(),
            columns,
            rows: rows.into_iter().collect(),
            all: None,
        }
    }
}

impl Column {
    /// Parses titles separated by `|`; a title after `#` is that of numbers.
    pub(super) fn parse(titles: &'static str) -> Vec<Self> {
        let column = |title: &'static str| match title.strip_prefix('#') {
            Some(title) => Self::Number(title),
            None => Self::Text(title),
        };
        titles.split('|').map(column).collect()
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Text(title) | Self::Number(title) => title,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Text(_) => "",
            Self::Number(_) => " class=\"number\"",
        }
    }
}

impl Html {
    /// Returns the HTML written so far.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes a heading within a section.
    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "<h3>{}</h3>", escape(text));
    }

    /// Writes a paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escape(text));
    }

    /// Writes a less prominent paragraph.
    pub(super) fn note(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p class=\"note\">{}</p>", escape(text));
    }

    /// Writes a list; nothing if it is empty.
    pub(super) fn list<T: AsRef<str>>(&mut self, items: impl IntoIterator<Item = T>) {
        let items = items.into_iter();
        let items = items.map(|item| format!("<li>{}</li>\n", escape(item.as_ref())));
        let items: String = items.collect();
        if !items.is_empty() {
            let _ = writeln!(self.0, "<ul>\n{items}</ul>");
        }
    }

    /// Writes a description list of names and texts.
    pub(super) fn facts(&mut self, facts: &[(&str, String)]) {
        self.0.push_str("<dl>\n");
        for (name, text) in facts {
            let (name, text) = (escape(name), escape(text));
            let _ = writeln!(self.0, "<div><dt>{name}</dt><dd>{text}</dd></div>");
        }
        self.0.push_str("</dl>\n");
    }

    /// Writes an SVG picture, which may be wider than the page.
    pub(super) fn picture(&mut self, about: &str, svg: &str) {
        let _ = writeln!(
            self.0,
            "<figure{}>\n{svg}</figure>",
            scroll_attributes(about)
        );
    }

    /// Writes a table; nothing if it has no rows.
    pub(super) fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let (about, columns) = (scroll_attributes(&table.caption), &table.columns);
        let _ = write!(
            self.0,
            "<div class=\"wide\"{about}><table>\n<caption>{}</caption>\n<thead><tr>",
            escape(&table.caption)
        );
        for column in columns {
            let (class, title) = (column.class(), escape(column.title()));
            let _ = write!(self.0, "<th scope=\"col\"{class}>{title}</th>");
        }
        self.0.push_str("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            self.row(columns, row);
        }
        self.0.push_str("</tbody>\n");
        if let Some(all) = &table.all {
            self.0.push_str("<tfoot>\n");
            self.row(columns, all);
            self.0.push_str("</tfoot>\n");
        }
        self.0.push_str("</table></div>\n");
    }

    /// Writes a remark if only the first rows of a table are shown.
    pub(super) fn truncation_note(&mut self, shown: usize, total: u64, what: &str) {
        if total > shown as u64 {
            let all = format::pluralize(total, what);
            self.note(&format!(
                "The first {shown} of {all}; the page and the command line show all."
            ));
        }
    }

    fn row(&mut self, columns: &[Column], cells: &[String]) {
        self.0.push_str("<tr>");
        for (place, (column, cell)) in columns.iter().zip(cells).enumerate() {
            let (class, cell) = (column.class(), escape(cell));
            let _ = match place {
                0 => write!(self.0, "<th scope=\"row\"{class}>{cell}</th>"),
                _ => write!(self.0, "<td{class}>{cell}</td>"),
            };
        }
        self.0.push_str("</tr>\n");
    }
}

/// Returns attributes that make an element scrollable by keyboard if it is wider than the page.
fn scroll_attributes(about: &str) -> String {
    format!(
        " tabindex=\"0\" role=\"group\" aria-label=\"{}\"",
        escape(about)
    )
}
