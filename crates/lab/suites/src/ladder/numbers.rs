//! Numbers from 0 to 999 in words.

use super::Language;

/// The number in words; in digits from 1000 on.
pub(super) fn in_words(n: usize, language: Language) -> String {
    if n > 999 {
        return n.to_string();
    }
    match language {
        Language::English => english(n),
        Language::German => german(n),
        Language::Spanish => spanish(n),
        Language::Chinese => chinese(n),
    }
}

/// The number that these English words write.
pub(crate) fn number_of_words(words: &str) -> Option<usize> {
    (0..1000).find(|n| in_words(*n, Language::English) == words)
}

/// The number in words before a noun.
pub(super) fn count_in_words(n: usize, language: Language) -> String {
    match (n, language) {
        (2, Language::Chinese) => "两".to_owned(),
        _ => in_words(n, language),
    }
}

fn at<'a>(words: &[&'a str], n: usize) -> &'a str {
    words.get(n).copied().unwrap_or_default()
}

fn english(n: usize) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] =
        ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    match (n / 100, n % 100) {
        (0, rest @ 0..20) => at(&SMALL, rest).to_owned(),
        (0, rest) if rest % 10 == 0 => at(&TENS, rest / 10).to_owned(),
        (0, rest) => format!("{}-{}", at(&TENS, rest / 10), at(&SMALL, rest % 10)),
        (hundreds, 0) => format!("{} hundred", at(&SMALL, hundreds)),
        (hundreds, rest) => format!("{} hundred and {}", at(&SMALL, hundreds), english(rest)),
    }
}

fn german(n: usize) -> String {
    const SMALL: [&str; 20] = [
        "null",
        "eins",
        "zwei",
        "drei",
        "vier",
        "fünf",
        "sechs",
        "sieben",
        "acht",
        "neun",
        "zehn",
        "elf",
        "zwölf",
        "dreizehn",
        "vierzehn",
        "fünfzehn",
        "sechzehn",
        "siebzehn",
        "achtzehn",
        "neunzehn",
    ];
    const TENS: [&str; 10] =
        ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"];
    let unit = |n: usize| if n == 1 { "ein" } else { at(&SMALL, n) };
    match (n / 100, n % 100) {
        (0, rest @ 0..20) => at(&SMALL, rest).to_owned(),
        (0, rest) if rest % 10 == 0 => at(&TENS, rest / 10).to_owned(),
        (0, rest) => format!("{}und{}", unit(rest % 10), at(&TENS, rest / 10)),
        (hundreds, 0) => format!("{}hundert", unit(hundreds)),
        (hundreds, rest) => format!("{}hundert{}", unit(hundreds), german(rest)),
    }
}

fn spanish(n: usize) -> String {
    const SMALL: [&str; 30] = [
        "cero",
        "uno",
        "dos",
        "tres",
        "cuatro",
        "cinco",
        "seis",
        "siete",
        "ocho",
        "nueve",
        "diez",
        "once",
        "doce",
        "trece",
        "catorce",
        "quince",
        "dieciséis",
        "diecisiete",
        "dieciocho",
        "diecinueve",
        "veinte",
        "veintiuno",
        "veintidós",
        "veintitrés",
        "veinticuatro",
        "veinticinco",
        "veintiséis",
        "veintisiete",
        "veintiocho",
        "veintinueve",
    ];
    const TENS: [&str; 10] =
        ["", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"];
    const HUNDREDS: [&str; 10] = [
        "",
        "ciento",
        "doscientos",
        "trescientos",
        "cuatrocientos",
        "quinientos",
        "seiscientos",
        "setecientos",
        "ochocientos",
        "novecientos",
    ];
    match (n / 100, n % 100) {
        (0, rest @ 0..30) => at(&SMALL, rest).to_owned(),
        (0, rest) if rest % 10 == 0 => at(&TENS, rest / 10).to_owned(),
        (0, rest) => format!("{} y {}", at(&TENS, rest / 10), at(&SMALL, rest % 10)),
        (1, 0) => "cien".to_owned(),
        (hundreds, 0) => at(&HUNDREDS, hundreds).to_owned(),
        (hundreds, rest) => format!("{} {}", at(&HUNDREDS, hundreds), spanish(rest)),
    }
}

fn chinese(n: usize) -> String {
    const DIGITS: [&str; 10] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    match (n / 100, n / 10 % 10, n % 10) {
        (0, 0, ones) => at(&DIGITS, ones).to_owned(),
        (0, 1, 0) => "十".to_owned(),
        (0, 1, ones) => format!("十{}", at(&DIGITS, ones)),
        (0, tens, 0) => format!("{}十", at(&DIGITS, tens)),
        (0, tens, ones) => format!("{}十{}", at(&DIGITS, tens), at(&DIGITS, ones)),
        (hundreds, 0, 0) => format!("{}百", at(&DIGITS, hundreds)),
        (hundreds, 0, ones) => format!("{}百零{}", at(&DIGITS, hundreds), at(&DIGITS, ones)),
        (hundreds, tens, 0) => format!("{}百{}十", at(&DIGITS, hundreds), at(&DIGITS, tens)),
        (hundreds, tens, ones) => {
            format!("{}百{}十{}", at(&DIGITS, hundreds), at(&DIGITS, tens), at(&DIGITS, ones))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelt_as_in_each_language() {
        let expected = [
            (1, "one", "eins", "uno", "一"),
            (12, "twelve", "zwölf", "doce", "十二"),
            (21, "twenty-one", "einundzwanzig", "veintiuno", "二十一"),
            (40, "forty", "vierzig", "cuarenta", "四十"),
            (67, "sixty-seven", "siebenundsechzig", "sesenta y siete", "六十七"),
            (100, "one hundred", "einhundert", "cien", "一百"),
            (101, "one hundred and one", "einhunderteins", "ciento uno", "一百零一"),
            (110, "one hundred and ten", "einhundertzehn", "ciento diez", "一百一十"),
            (
                276,
                "two hundred and seventy-six",
                "zweihundertsechsundsiebzig",
                "doscientos setenta y seis",
                "二百七十六",
            ),
            (500, "five hundred", "fünfhundert", "quinientos", "五百"),
        ];
        for (n, en, de, es, zh) in expected {
            let all = [Language::English, Language::German, Language::Spanish, Language::Chinese];
            assert_eq!(all.map(|language| in_words(n, language)), [en, de, es, zh]);
        }
    }
}
