//! Where a log is that a link names, and whether the page may have it fetched.

/// The parts of an address that count, as a browser tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// With its colon: `https:`.
    pub protocol: &'a str,
    /// Protocol, host and port; `null` where there is none.
    pub origin: &'a str,
    /// What it says before an `@`.
    pub user: &'a str,
    /// And behind a colon there.
    pub password: &'a str,
}

/// Where a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the server that the page came from.
    Here,
    /// On another one.
    Elsewhere,
}

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It leads to no web server.
    Protocol,
    /// It has a name or a password in it.
    Credentials,
    /// It is not encrypted, but the page is.
    Unencrypted,
}

/// Where an address leads from a page.
///
/// # Errors
/// If the page is not to follow it.
pub fn place(address: &Parts<'_>, page: &Parts<'_>) -> Result<Place, Refused> {
    if !["https:", "http:"].contains(&address.protocol) {
        return Err(Refused::Protocol);
    }
    if !address.user.is_empty() || !address.password.is_empty() {
        return Err(Refused::Credentials);
    }
    if address.origin == page.origin {
        return Ok(Place::Here);
    }
    if page.protocol == "https:" && address.protocol != "https:" {
        return Err(Refused::Unencrypted);
    }
    Ok(Place::Elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn parts<'a>(protocol: &'a str, origin: &'a str) -> Parts<'a> {
        Parts {
            protocol,
            origin,
            user: "",
            password: "",
        }
    }

    #[test]
    fn only_web_servers_are_asked_and_no_secrets_told() {
        let page = parts("https:", "https://a.example");
        let plain = parts("http:", "http://localhost:8080");
        let other = parts("https:", "https://b.example");
        assert_eq!(place(&page, &page), Ok(Place::Here));
        assert_eq!(place(&other, &page), Ok(Place::Elsewhere));
        assert_eq!(place(&other, &plain), Ok(Place::Elsewhere));
        assert_eq!(place(&plain, &plain), Ok(Place::Here));
        assert_eq!(place(&plain, &page), Err(Refused::Unencrypted));
        for protocol in ["file:", "javascript:", "data:", "blob:", "ftp:", ""] {
            let address = parts(protocol, "https://a.example");
            assert_eq!(place(&address, &page), Err(Refused::Protocol), "{protocol}");
        }
        for (user, password) in [("me", ""), ("", "secret")] {
            let address = Parts {
                user,
                password,
                ..page
            };
            assert_eq!(place(&address, &page), Err(Refused::Credentials));
        }
    }
}
