//! Checks whether the page may fetch a log from the address in a link.

/// Relevant parts of an address, as parsed by a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Scheme including the colon: `https:`.
    pub protocol: &'a str,
    /// Scheme, host and port; `null` for addresses without an origin.
    pub origin: &'a str,
    /// User name before the `@`; may be empty.
    pub user: &'a str,
    /// Password before the `@`; may be empty.
    pub password: &'a str,
}

/// Server of a log relative to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Same origin as the page.
    Here,
    /// Different origin.
    Elsewhere,
}

/// Reason for refusing an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The scheme is not that of a web server.
    Protocol,
    /// The address contains a user name or password.
    Credentials,
    /// The address is unencrypted and of another origin, but the page is encrypted.
    Unencrypted,
}

/// Classifies an address as same-origin or cross-origin.
///
/// # Errors
/// Returns why the page must not fetch the address.
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
