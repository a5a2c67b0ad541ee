//! Sentences that all suites share, in each language. `[a|b]` is a choice, `{0}` a part of the sentence.

use super::{Kind, Language, Measure, TypeWords};

/// Grammatical case; only German changes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Nominative,
    Dative,
    Accusative,
}

/// The shared sentences of one language.
pub(super) struct Frames {
    /// Count, plural and list.
    pub(super) several: &'static [&'static str],
    /// "the only town" and name.
    pub(super) one: &'static [&'static str],
    /// Object and its second name.
    pub(super) alias: &'static [&'static str],
    /// Object and quantity.
    pub(super) weight: &'static [&'static str],
    pub(super) width: &'static [&'static str],
    /// Condition, sentence if it holds, sentence if not.
    pub(super) condition: &'static [&'static str],
    /// Wrong and right sentence.
    pub(super) correction: &'static [&'static str],
    /// Subject of a table, and of a list.
    pub(super) table: &'static str,
    pub(super) list: &'static str,
    /// A name in words and in digits.
    pub(super) spelling: &'static str,
    /// Conditions: in a subordinate clause, as a sentence, and its negation.
    pub(super) conditions: &'static [(&'static str, &'static str, &'static str)],
    /// Sentences about an object that do not matter: for places, things and persons.
    pub(super) places: &'static [&'static str],
    pub(super) things: &'static [&'static str],
    pub(super) persons: &'static [&'static str],
    /// The last joiner of a list, and the other ones.
    pub(super) and: &'static str,
    pub(super) comma: &'static str,
    /// End of a sentence.
    pub(super) stop: char,
}

const ENGLISH: Frames = Frames {
    several: &[
        "There are {0} {1}: {2}.",
        "The {0} {1} are {2}.",
        "The {1}, {0} in all, are {2}.",
        "The names of the {0} {1} are {2}.",
        "Here are the {0} {1}: {2}.",
    ],
    one: &["{0} is {1}.", "{0} is called {1}.", "{0} has the name {1}."],
    alias: &[
        "{0} is also called {1}.",
        "Another name of {0} is {1}.",
        "{1} is a second name of {0}.",
        "Some people call {0} {1}.",
        "{0} is also known as {1}.",
    ],
    weight: &["{0} weighs {1}.", "The weight of {0} is {1}."],
    width: &["{0} is {1} wide.", "The width of {0} is {1}."],
    condition: &[
        "If {0}, {1}; otherwise, {2}.",
        "If {0}, then {1}; if not, {2}.",
        "Provided that {0}, {1}; else, {2}.",
    ],
    correction: &[
        "Correction: \"{0}\" is wrong; in truth, {1}.",
        "The sentence \"{0}\" is a mistake; in fact, {1}.",
        "Please ignore the sentence \"{0}\" because {1}.",
    ],
    table: "The following table shows {0}:",
    list: "The following list shows {0}:",
    spelling: "Numbers in names are sometimes written in words: {0} stands for {1}.",
    conditions: &[
        ("it is raining today", "It is raining today.", "It is not raining today."),
        ("today is a holiday", "Today is a holiday.", "Today is not a holiday."),
        ("the office is open", "The office is open.", "The office is not open."),
        (
            "the lamp at the entrance is on",
            "The lamp at the entrance is on.",
            "The lamp at the entrance is off.",
        ),
        ("the radio works", "The radio works.", "The radio does not work."),
    ],
    places: &[
        "A photo of {0} was in the newspaper last year.",
        "Some visitors find {0} very quiet.",
        "A poem was written about {0}.",
        "{0} is older than {1}.",
        "A painter once made a picture of {0} and one of {1}.",
    ],
    things: &[
        "Somebody took a photo of {0} last week.",
        "A letter says something about {0}.",
        "Somebody made a drawing of {0}.",
        "{0} was more expensive than {1}.",
        "{0} and {1} came from the same shop.",
    ],
    persons: &[
        "{0} likes music.",
        "{0} has a cousin in another country.",
        "{0} had soup for lunch yesterday.",
        "{0} is older than {1}.",
        "{0} and {1} went to the same school.",
    ],
    and: " and ",
    comma: ", ",
    stop: '.',
};

const GERMAN: Frames = Frames {
    several: &[
        "Es gibt {0} {1}: {2}.",
        "Die {0} {1} heißen {2}.",
        "Die {1}, insgesamt {0}, sind {2}.",
        "Die Namen der {0} {1} sind {2}.",
        "Hier sind die {0} {1}: {2}.",
    ],
    one: &["{0} ist {1}.", "{0} heißt {1}.", "{0} hat den Namen {1}."],
    alias: &[
        "{0} heißt auch {1}.",
        "Ein anderer Name von {0} ist {1}.",
        "{1} ist ein zweiter Name von {0}.",
        "Manche nennen {0} auch {1}.",
        "{0} ist auch als {1} bekannt.",
    ],
    weight: &["{0} wiegt {1}.", "Das Gewicht von {0} beträgt {1}."],
    width: &["{0} ist {1} breit.", "Die Breite von {0} beträgt {1}."],
    condition: &[
        "Wenn {0}, gilt: {1}; sonst gilt: {2}.",
        "Falls {0}, gilt: {1}; falls nicht, gilt: {2}.",
        "Unter der Bedingung, dass {0}, gilt: {1}; andernfalls gilt: {2}.",
    ],
    correction: &[
        "Berichtigung: „{0}“ ist falsch; richtig ist: {1}.",
        "Der Satz „{0}“ ist ein Irrtum; in Wahrheit gilt: {1}.",
        "Statt „{0}“ muss es heißen: {1}.",
    ],
    table: "Die folgende Tabelle zeigt, {0}:",
    list: "Die folgende Liste zeigt, {0}:",
    spelling: "Zahlen in Namen sind manchmal ausgeschrieben: {0} steht für {1}.",
    conditions: &[
        ("es heute regnet", "Es regnet heute.", "Es regnet heute nicht."),
        ("heute ein Feiertag ist", "Heute ist ein Feiertag.", "Heute ist kein Feiertag."),
        ("das Büro geöffnet ist", "Das Büro ist geöffnet.", "Das Büro ist nicht geöffnet."),
        (
            "die Lampe am Eingang leuchtet",
            "Die Lampe am Eingang leuchtet.",
            "Die Lampe am Eingang leuchtet nicht.",
        ),
        ("das Radio funktioniert", "Das Radio funktioniert.", "Das Radio funktioniert nicht."),
    ],
    places: &[
        "Ein Foto von {0} war im letzten Jahr in der Zeitung.",
        "Manche Besucher finden {0} sehr ruhig.",
        "Über {0} wurde ein Gedicht geschrieben.",
        "{0} ist älter als {1}.",
        "Jemand hat ein Bild von {0} und eines von {1} gemalt.",
    ],
    things: &[
        "Jemand hat letzte Woche {0} fotografiert.",
        "In einem Brief steht etwas über {0}.",
        "Jemand hat von {0} eine Zeichnung gemacht.",
        "{0} hat mehr gekostet als {1}.",
        "{0} und {1} stammen aus demselben Laden.",
    ],
    persons: &[
        "{0} mag Musik.",
        "{0} hat Verwandte in einem anderen Land.",
        "{0} hat gestern Suppe gegessen.",
        "{0} ist älter als {1}.",
        "{0} und {1} waren auf derselben Schule.",
    ],
    and: " und ",
    comma: ", ",
    stop: '.',
};

const SPANISH: Frames = Frames {
    several: &[
        "Hay {0} {1}: {2}.",
        "Los nombres de {3} {0} {1} son {2}.",
        "Se trata de {0} {1}: {2}.",
        "Aquí se nombran {0} {1}: {2}.",
        "En total hay {0} {1}, a saber: {2}.",
    ],
    one: &["{0} es {1}.", "{0} se llama {1}.", "{0} tiene el nombre {1}."],
    alias: &[
        "{0} también se llama {1}.",
        "Otro nombre de {0} es {1}.",
        "{1} es un segundo nombre de {0}.",
        "Algunos llaman {1} a {0}.",
        "Para {0} también se usa el nombre {1}.",
    ],
    weight: &["{0} pesa {1}.", "El peso de {0} es de {1}."],
    width: &["{0} mide {1} de ancho.", "La anchura de {0} es de {1}."],
    condition: &[
        "Si {0}, {1}; si no, {2}.",
        "Si {0}, entonces {1}; en caso contrario, {2}.",
        "Siempre que sea cierto que {0}, {1}; de lo contrario, {2}.",
    ],
    correction: &[
        "Corrección: «{0}» es falso; en realidad, {1}.",
        "La frase «{0}» es un error; lo cierto es que {1}.",
        "En vez de «{0}» hay que leer: {1}.",
    ],
    table: "La tabla siguiente muestra {0}:",
    list: "La lista siguiente muestra {0}:",
    spelling: "Los números de los nombres se escriben a veces con letras: {0} equivale a {1}.",
    conditions: &[
        ("hoy llueve", "Hoy llueve.", "Hoy no llueve."),
        ("hoy es día festivo", "Hoy es día festivo.", "Hoy no es día festivo."),
        ("la oficina está abierta", "La oficina está abierta.", "La oficina no está abierta."),
        (
            "la lámpara de la entrada está encendida",
            "La lámpara de la entrada está encendida.",
            "La lámpara de la entrada está apagada.",
        ),
        ("la radio funciona", "La radio funciona.", "La radio no funciona."),
    ],
    places: &[
        "El año pasado salió en el periódico una foto de {0}.",
        "Algunos visitantes dicen que en {0} hay mucha calma.",
        "Alguien escribió un poema sobre {0}.",
        "Dicen que {0} existe desde hace más tiempo que {1}.",
        "Alguien pintó un cuadro de {0} y otro de {1}.",
    ],
    things: &[
        "La semana pasada alguien fotografió {0}.",
        "Una carta dice algo sobre {0}.",
        "Alguien hizo un dibujo de {0}.",
        "El precio de {0} fue mayor que el de {1}.",
        "La tienda de {0} es también la de {1}.",
    ],
    persons: &[
        "A {0} le gusta la música.",
        "{0} tiene familia en otro país.",
        "Ayer {0} comió sopa.",
        "{0} es mayor que {1}.",
        "{0} fue a la misma escuela que {1}.",
    ],
    and: " y ",
    comma: ", ",
    stop: '.',
};

const CHINESE: Frames = Frames {
    several: &[
        "共有{0}个{1}：{2}。",
        "{1}共{0}个，分别是{2}。",
        "这里有{0}个{1}，即{2}。",
        "{0}个{1}的名称是{2}。",
        "以下是{0}个{1}：{2}。",
    ],
    one: &["{0}是{1}。", "{0}叫{1}。", "{0}的名称是{1}。"],
    alias: &[
        "{0}也叫{1}。",
        "{0}又名{1}。",
        "{0}的另一个名称是{1}。",
        "有人把{0}叫作{1}。",
        "{1}是{0}的别名。",
    ],
    weight: &["{0}重{1}。", "{0}的重量是{1}。"],
    width: &["{0}宽{1}。", "{0}的宽度是{1}。"],
    condition: &[
        "如果{0}，那么{1}；否则，{2}。",
        "若{0}，则{1}；若不是这样，则{2}。",
        "要是{0}，就有：{1}；不然就有：{2}。",
    ],
    correction: &[
        "更正：“{0}”是错的，正确的是：{1}。",
        "“{0}”这句话有误，实际上{1}。",
        "请把“{0}”改为“{1}”。",
    ],
    table: "下表说明{0}：",
    list: "以下列表说明{0}：",
    spelling: "名称中的数字有时用文字书写：{0}就是{1}。",
    conditions: &[
        ("今天下雨", "今天下雨。", "今天不下雨。"),
        ("今天是节日", "今天是节日。", "今天不是节日。"),
        ("办公室开着门", "办公室开着门。", "办公室没有开门。"),
        ("入口处的灯亮着", "入口处的灯亮着。", "入口处的灯没有亮。"),
        ("收音机能用", "收音机能用。", "收音机不能用。"),
    ],
    places: &[
        "去年报纸上登过{0}的照片。",
        "有些游客觉得{0}很安静。",
        "有人写过一首关于{0}的诗。",
        "{0}比{1}更古老。",
        "有人画过{0}，也画过{1}。",
    ],
    things: &[
        "上周有人给{0}拍了照片。",
        "有一封信提到了{0}。",
        "有人画过{0}的图。",
        "{0}比{1}贵。",
        "{0}和{1}是同一家店卖的。",
    ],
    persons: &[
        "{0}喜欢音乐。",
        "{0}有亲戚在国外。",
        "{0}昨天喝了汤。",
        "{0}比{1}年长。",
        "{0}和{1}上过同一所学校。",
    ],
    and: "和",
    comma: "、",
    stop: '。',
};

impl Frames {
    pub(super) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::Spanish => &SPANISH,
            Language::Chinese => &CHINESE,
        }
    }

    pub(super) const fn measure(&self, measure: Measure) -> &'static [&'static str] {
        match measure {
            Measure::Weight => self.weight,
            Measure::Width | Measure::Extent => self.width,
        }
    }

    pub(super) const fn irrelevant(&self, kind: Kind) -> &'static [&'static str] {
        match kind {
            Kind::Place => self.places,
            Kind::Thing => self.things,
            Kind::Person => self.persons,
        }
    }
}

/// A type's noun with its article and plural.
pub(super) struct Noun<'a> {
    /// `der`, `la`; empty in English and Chinese.
    article: &'a str,
    pub(super) singular: &'a str,
    pub(super) plural: &'a str,
    language: Language,
}

impl<'a> Noun<'a> {
    pub(super) fn new(words: &'a TypeWords, language: Language) -> Self {
        let text = words.words.get(language).as_str();
        let (singular, plural) = text.split_once('/').unwrap_or((text, text));
        let (article, singular) = match language {
            Language::German | Language::Spanish => singular.split_once(' ').unwrap_or(("", singular)),
            Language::English | Language::Chinese => ("", singular),
        };
        Self { article, singular, plural, language }
    }

    /// "the only town", at the beginning of a sentence.
    pub(super) fn only(&self) -> String {
        let noun = self.singular;
        match self.language {
            Language::English => format!("The only {noun}"),
            Language::German => format!("{} einzige {noun}", capitalised(self.article)),
            Language::Spanish if self.article == "la" => format!("La única {noun}"),
            Language::Spanish => format!("El único {noun}"),
            Language::Chinese => format!("唯一的{noun}"),
        }
    }

    /// "this town".
    pub(super) fn this(&self, case: Case) -> String {
        let noun = self.singular;
        match self.language {
            Language::English => format!("this {noun}"),
            Language::German => format!("dies{} {noun}", self.german_ending(case)),
            Language::Spanish => format!("est{} {noun}", if self.article == "la" { "a" } else { "e" }),
            Language::Chinese => format!("该{noun}"),
        }
    }

    /// The ending of `dies-` and `jed-`.
    fn german_ending(&self, case: Case) -> &'static str {
        match (self.article, case) {
            ("die", Case::Dative) => "er",
            ("die", _) => "e",
            (_, Case::Dative) => "em",
            ("der", Case::Nominative) => "er",
            ("der", Case::Accusative) => "en",
            _ => "es",
        }
    }

    fn the(&self, case: Case) -> &'a str {
        match (self.article, case) {
            ("der", Case::Accusative) => "den",
            ("der" | "das", Case::Dative) => "dem",
            ("die", Case::Dative) => "der",
            (article, _) => article,
        }
    }

    /// "the town that is 1.24 km wide".
    pub(super) fn measured(&self, measure: Measure, quantity: &str, case: Case) -> String {
        let noun = self.singular;
        let weight = measure == Measure::Weight;
        match self.language {
            Language::English if weight => format!("the {noun} that weighs {quantity}"),
            Language::English => format!("the {noun} that is {quantity} wide"),
            Language::German => {
                format!(
                    "{} {noun} mit {quantity} {}",
                    self.the(case),
                    if weight { "Gewicht" } else { "Breite" }
                )
            }
            Language::Spanish => {
                format!(
                    "{} {noun} de {quantity} de {}",
                    self.article,
                    if weight { "peso" } else { "anchura" }
                )
            }
            Language::Chinese => format!("{}{quantity}的{noun}", if weight { "重" } else { "宽" }),
        }
    }

    /// "each of the towns a, b and c (except b)".
    pub(super) fn each(&self, list: &str, except: Option<&str>, case: Case) -> String {
        let plural = self.plural;
        match self.language {
            Language::English => format!(
                "each of the {plural} {list}{}",
                except.map_or_else(String::new, |x| format!(" (except {x})"))
            ),
            Language::German => format!(
                "jed{} der {plural} {list}{}",
                self.german_ending(case),
                except.map_or_else(String::new, |x| format!(" (außer {x})"))
            ),
            Language::Spanish => {
                let (one, the) = if self.article == "la" { ("una", "las") } else { ("uno", "los") };
                format!(
                    "cada {one} de {the} {plural} {list}{}",
                    except.map_or_else(String::new, |x| format!(" (excepto {x})"))
                )
            }
            Language::Chinese => {
                format!(
                    "{list}中{}每个{}",
                    except.map_or_else(String::new, |x| format!("除{x}以外的")),
                    self.singular
                )
            }
        }
    }

    /// The plural article of Spanish.
    pub(super) fn plural_article(&self) -> &'static str {
        if self.article == "la" { "las" } else { "los" }
    }
}

/// The text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The text with a small first letter.
pub(super) fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A quantity in its small or large unit: `1,240 g`, `1.24 kg`.
pub(super) fn quantity(measure: Measure, value: u32, large: bool, language: Language) -> String {
    let (small_unit, large_unit, factor, digits) = match measure {
        Measure::Weight => ("g", "kg", 1000, 3),
        Measure::Width => ("cm", "m", 100, 2),
        Measure::Extent => ("m", "km", 1000, 3),
    };
    let unit = if large { large_unit } else { small_unit };
    let number = match large {
        false if language == Language::English && value >= 1000 => {
            format!("{},{:03}", value / 1000, value % 1000)
        }
        false => value.to_string(),
        true => {
            let point = if matches!(language, Language::German | Language::Spanish) { "," } else { "." };
            format!("{}{point}{:0digits$}", value / factor, value % factor)
        }
    };
    match language {
        Language::Chinese => {
            let name = match unit {
                "g" => "克",
                "kg" => "千克",
                "cm" => "厘米",
                "km" => "千米",
                _ => "米",
            };
            format!("{number}{name}")
        }
        _ => format!("{number} {unit}"),
    }
}
