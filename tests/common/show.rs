//! Parser of values as Haskell's `show` prints them, sufficient for dumps of events.

/// Parsed Haskell value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HaskellValue {
    /// `12`.
    Number(u64),
    /// `"text"`.
    Text(String),
    /// `[a,b]`.
    List(Vec<HaskellValue>),
    /// `Constructor arg arg`.
    Plain(String, Vec<HaskellValue>),
    /// `Constructor {field = value, ...}`.
    Record(String, Vec<(String, HaskellValue)>),
}

/// Parses a whole text as one value.
pub fn parse(text: &str) -> Option<HaskellValue> {
    let mut parser = Parser(text);
    let value = parser.value()?;
    parser.0.is_empty().then_some(value)
}

struct Parser<'a>(&'a str);

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn while_(&mut self, is: impl Fn(char) -> bool) -> String {
        let len = self.0.find(|c| !is(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken.to_owned()
    }

    /// Parses a value that may be an argument without parentheses.
    fn atom(&mut self) -> Option<HaskellValue> {
        match self.0.chars().next()? {
            '"' => self.text().map(HaskellValue::Text),
            '[' => self.list(),
            '(' => {
                self.eat("(");
                let value = self.value()?;
                self.eat(")").then_some(value)
            }
            '0'..='9' => self
                .while_(|c| c.is_ascii_digit())
                .parse()
                .ok()
                .map(HaskellValue::Number),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<HaskellValue> {
        if !self.0.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.atom();
        }
        let name = self.while_(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.eat(" {") {
            return self
                .fields()
                .map(|fields| HaskellValue::Record(name, fields));
        }
        let mut arguments = Vec::new();
        while self.eat(" ") {
            arguments.push(self.atom()?);
        }
        Some(HaskellValue::Plain(name, arguments))
    }

    fn fields(&mut self) -> Option<Vec<(String, HaskellValue)>> {
        let mut fields = Vec::new();
        loop {
            let name = self.while_(|c| c.is_ascii_alphanumeric() || c == '_');
            if !self.eat(" = ") {
                return None;
            }
            fields.push((name, self.value()?));
            if self.eat("}") {
                return Some(fields);
            }
            if !self.eat(", ") {
                return None;
            }
        }
    }

    fn list(&mut self) -> Option<HaskellValue> {
        let mut items = Vec::new();
        self.eat("[");
        if self.eat("]") {
            return Some(HaskellValue::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.eat("]") {
                return Some(HaskellValue::List(items));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        self.eat("\"");
        loop {
            let c = self.0.chars().next()?;
            self.0 = &self.0[c.len_utf8()..];
            match c {
                '"' => return Some(text),
                '\\' if self.eat("&") => {}
                '\\' => text.push(self.escape()?),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        /// Escapes of `GHC.Show.asciiTab`, from code 0. "SOH" precedes "SO", its prefix.
        const NAMED: &str = "NUL SOH STX ETX EOT ENQ ACK a b t n v f r SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";
        if self.eat("\\") {
            return Some('\\');
        }
        let digits = self.while_(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            return digits.parse().ok().and_then(char::from_u32);
        }
        let names = NAMED.split(' ').zip(0..);
        let mut names = names.chain([("DEL", 127), ("\"", b'"')]);
        let (_, code) = names.find(|(name, _)| self.eat(name))?;
        Some(char::from(code))
    }
}

/// Unescapes a field of a dump. Backslash, tab and line ends are escaped, and in Eventscope's dumps also all other
/// characters that a terminal would obey.
pub fn unescape(field: &str) -> String {
    let mut text = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        text.push(match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('u') => {
                    let digits = chars.by_ref().skip(1).take_while(|c| *c != '}');
                    let code = u32::from_str_radix(&digits.collect::<String>(), 16);
                    code.ok().and_then(char::from_u32).unwrap_or('u')
                }
                Some(other) => other,
                None => '\\',
            },
            (plain, false) => plain,
        });
    }
    text
}
