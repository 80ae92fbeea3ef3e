//! Checks whether the page may fetch a log from the address in a link.

/// Relevant parts of an address, as parsed by a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressParts<'a> {
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
pub enum AddressOrigin {
    /// Same origin as the page.
    SameOrigin,
    /// Different origin.
    OtherOrigin,
}

/// Reason for refusing an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
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
pub fn classify_address(
    address: &AddressParts<'_>,
    page: &AddressParts<'_>,
) -> Result<AddressOrigin, AddressError> {
    if !["https:", "http:"].contains(&address.protocol) {
        return Err(AddressError::Protocol);
    }
    if !address.user.is_empty() || !address.password.is_empty() {
        return Err(AddressError::Credentials);
    }
    if address.origin == page.origin {
        return Ok(AddressOrigin::SameOrigin);
    }
    if page.protocol == "https:" && address.protocol != "https:" {
        return Err(AddressError::Unencrypted);
    }
    Ok(AddressOrigin::OtherOrigin)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn parts<'a>(protocol: &'a str, origin: &'a str) -> AddressParts<'a> {
        AddressParts {
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
        let (user, password) = ("me", "secret");
        let mut cases = vec![
            (page, page, Ok(AddressOrigin::SameOrigin)),
            (other, page, Ok(AddressOrigin::OtherOrigin)),
            (other, plain, Ok(AddressOrigin::OtherOrigin)),
            (plain, plain, Ok(AddressOrigin::SameOrigin)),
            (plain, page, Err(AddressError::Unencrypted)),
            (
                AddressParts { user, ..page },
                page,
                Err(AddressError::Credentials),
            ),
            (
                AddressParts { password, ..page },
                page,
                Err(AddressError::Credentials),
            ),
        ];
        for protocol in ["file:", "javascript:", "data:", "blob:", "ftp:", ""] {
            let address = parts(protocol, "https://a.example");
            cases.push((address, page, Err(AddressError::Protocol)));
        }
        for (address, page, expected) in cases {
            assert_eq!(classify_address(&address, &page), expected, "{address:?}");
        }
    }
}
