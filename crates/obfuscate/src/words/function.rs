//! Words that carry no story: they stay in every text, and a name that has no others is told by them.

/// Articles, pronouns, prepositions, conjunctions, auxiliaries, counting words and the vocabulary of planning tasks themselves. Sorted.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "above", "according", "across", "action", "actions", "after", "afterwards", "again",
    "against", "all", "along", "already", "also", "although", "always", "am", "among", "an", "and",
    "another", "any", "anybody", "anything", "are", "around", "as", "at", "away", "back", "be", "because",
    "been", "before", "beginning", "behind", "being", "below", "beside", "besides", "between", "both",
    "but", "by", "can", "cannot", "could", "currently", "define", "definition", "did", "different", "do",
    "does", "doing", "domain", "done", "down", "during", "each", "effect", "effects", "eight", "either",
    "eleven", "else", "end", "ends", "enough", "even", "every", "everything", "exactly", "except", "exists",
    "false", "few", "fewer", "finally", "first", "five", "following", "follows", "for", "forall", "four",
    "from", "further", "goal", "goals", "had", "has", "have", "having", "he", "hence", "her", "here", "him",
    "his", "how", "however", "i", "if", "imply", "in", "init", "initial", "initially", "inside", "instead",
    "into", "is", "it", "its", "itself", "just", "last", "least", "less", "list", "many", "may", "me",
    "metric", "might", "more", "most", "must", "my", "named", "neither", "never", "next", "nine", "no",
    "nobody", "none", "nor", "not", "nothing", "now", "number", "numbers", "object", "objects", "of", "off",
    "often", "on", "once", "one", "ones", "only", "onto", "opposite", "or", "order", "other", "others",
    "otherwise", "our", "out", "outside", "over", "own", "parameter", "parameters", "per", "plan", "plans",
    "precondition", "predicate", "predicates", "problem", "problems", "same", "second", "set", "seven",
    "several", "she", "should", "since", "six", "so", "some", "somebody", "something", "start", "state",
    "still", "such", "task", "tasks", "ten", "than", "that", "the", "their", "them", "themselves", "then",
    "there", "therefore", "these", "they", "third", "this", "those", "three", "through", "thus", "till",
    "to", "together", "too", "toward", "towards", "true", "twelve", "twice", "two", "type", "types",
    "under", "unless", "until", "up", "upon", "us", "use", "used", "uses", "using", "value", "values",
    "very", "via", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who",
    "whole", "whom", "whose", "will", "with", "within", "without", "would", "yes", "yet", "you", "your",
    "zero",
];

/// Whether a word in lower case is one of them.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_each_word_once() {
        for pair in FUNCTION_WORDS.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert!(is_function_word("on") && is_function_word("goal") && !is_function_word("table"));
    }
}
