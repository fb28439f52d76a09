//! Numbers in the sentences that people read: thousands marked, nouns in the plural.

/// A number with its thousands marked: `1,204,331`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 bug`, `2 bugs`, `2 classes`.
pub fn count(n: u64, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", number(n))
}

/// `a Session`, `an Order`.
pub fn with_article(noun: &str) -> String {
    let article = match noun.chars().next().map(|first| first.to_ascii_lowercase()) {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_marked() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1000), "1,000");
        assert_eq!(number(1_204_331), "1,204,331");
    }

    #[test]
    fn nouns_are_put_in_the_plural() {
        assert_eq!(count(1, "class"), "1 class");
        assert_eq!(count(2, "class"), "2 classes");
        assert_eq!(count(0, "bug"), "0 bugs");
        assert_eq!(with_article("Session"), "a Session");
        assert_eq!(with_article("Order"), "an Order");
    }
}
