package cancel

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxPhrase is the longest possible stop phrase, in bytes.
const maxPhrase = 120

// language holds the words that form stop phrases: any number of openers, a stop, which may be repeated, and any
// number of tails. Words are folded by [foldCase]. A phrase of several words is written with single spaces; one that
// must be followed by a pause ends with a comma.
type language struct {
	openers, stops, tails []string // if one is a prefix of another, the longer one comes first
}

// languages are English, Spanish, German, French, Portuguese and Japanese.
//
// They are never mixed within one message: "stop la" is not a stop phrase. The words for addressing the program,
// which any language may begin or end with, are in botNames. "no para" and "não pare" mean the opposite of stop, so
// in those languages "no" is an opener only if a pause follows.
var languages = []language{
	{
		openers: []string{
			"ok", "okay", "oh", "actually", "just", "please", "yeah", "hey", "no", "wait", "can you",
			"could you",
		},
		stops: []string{
			"stop", "cancel", "never mind", "nevermind", "nvm", "forget it", "forgetit", "forget about it",
			"abort", "quit", "stop searching", "stop browsing", "stop looking", "stop working", "cancel the task",
			"stop the task",
			"stop the search", "that's enough",
		},
		tails: []string{"it", "that", "this", "please", "now", "right now", "already", "everything", "thanks", "thank you"},
	},
	{
		openers: []string{"ok", "vale", "oye", "por favor", "no,", "bueno", "mejor", "ya", "espera"},
		stops: []string{
			"para", "parar", "paralo", "parate", "pare", "parad", "detente", "deten", "detenlo", "detengase", "cancela",
			"cancelar",
			"cancelalo", "cancele", "alto", "olvidalo", "dejalo", "deja eso", "deja de buscar", "para de buscar", "no sigas",
			"aborta",
			"basta", "stop",
		},
		tails: []string{"ya", "eso", "esto", "todo", "por favor", "ahora", "ahi", "gracias"},
	},
	{
		openers: []string{"ok", "okay", "ach", "bitte", "hey", "doch", "nein", "ja", "warte", "alles"},
		stops: []string{
			"stop", "stopp", "stoppe", "stoppen", "stop mal", "stopp mal", "halt", "halt an", "halt mal", "halt mal an",
			"anhalten",
			"hor auf", "hore auf", "hor mal auf", "hor bitte auf", "hor auf zu suchen", "aufhoren", "abbrechen", "brich ab",
			"brich das ab", "brich bitte ab", "abbruch", "beenden", "vergiss es", "lass es", "lass das", "lass gut sein",
			"lass es gut sein", "schluss", "egal", "genug", "das reicht",
		},
		tails: []string{"das", "es", "bitte", "jetzt", "sofort", "damit", "danke", "alles"},
	},
	{
		openers: []string{
			"ok", "oh", "bon", "non", "s'il te plait", "s'il vous plait", "stp", "svp", "en fait", "attends",
			"allez", "on",
		},
		stops: []string{
			"stop", "stoppe", "stoppez", "arrete", "arrete-toi", "arretez", "arretez-vous", "arreter", "arrete de chercher",
			"arretez de chercher", "annule", "annulez", "annuler", "laisse tomber", "laissez tomber", "oublie", "oublie ca",
			"oubliez",
			"abandonne", "ca suffit", "arrete ca", "arrete tout",
		},
		tails: []string{
			"ca", "cela", "la", "tout de suite", "tout", "maintenant", "s'il te plait", "s'il vous plait", "stp",
			"svp", "merci",
		},
	},
	{
		openers: []string{"ok", "por favor", "ei", "nao,", "bom", "na verdade", "espera", "ja"},
		stops: []string{
			"para", "para com isso", "para de procurar", "para de buscar", "pare", "pare com isso", "pare de procurar",
			"pare de buscar",
			"parar", "parem", "pode parar", "cancela", "cancelar", "cancele", "esquece", "esqueca", "esquece isso",
			"esqueca isso", "deixa",
			"deixa quieto", "deixa pra la", "deixa para la", "interrompa", "aborta", "aborte", "chega", "stop",
		},
		tails: []string{"isso", "isto", "tudo", "agora", "ja", "por favor", "obrigado", "obrigada"},
	},
	{
		openers: []string{
			"ちょっと", "もう", "あ", "いや", "ねえ", "お願い", "ok", "すみません", "やっぱり", "やっぱ", "今すぐ", "すぐに", "全部", "すべて",
			"それを", "それ", "これを", "これ", "検索を", "作業を", "タスクを",
		},
		stops: []string{
			"ストップ", "ストップして", "止めて", "とめて", "止めろ", "止まって", "とまって", "止まれ", "止めといて", "やめて", "やめろ", "やめる",
			"やめといて", "辞めて", "中止", "中止して", "キャンセル", "キャンセルして", "もういい", "もういいよ", "停止", "停止して", "中断",
			"中断して", "忘れて", "stop",
		},
		tails: []string{
			"ください", "下さい", "くれ", "もらえますか", "くれますか", "ほしい", "欲しい", "お願いします", "お願い", "今すぐ", "すぐ", "です", "よ",
			"ね", "それ",
		},
	},
}

// botNames are the names by which people address the program in a stop phrase.
var botNames = []string{"clank", "@clank", "bot", "clanker", "クランク"}

// IsStop reports whether a whole message says "stop" and nothing else, in English, Spanish, German, French,
// Portuguese or Japanese. It may be polite ("ok, stop it please!") and may address the program by name or by a chat
// mention ("clank, stop"). Longer or more specific messages ("stop at the first result") are not stop phrases; the
// model has to interpret them.
func IsStop(message string) bool { return IsStopTo(nil, message) }

// IsStopTo is like [IsStop] with further names for the program.
func IsStopTo(names []string, message string) bool {
	if len(message) > maxPhrase {
		return false
	}
	words := phraseWords(message)
	isStop := func(names []string) bool {
		return slices.ContainsFunc(languages, func(l language) bool { return l.match(words, names) })
	}
	if isStop(botNames) { // also covers a further name that is a word of the phrase
		return true
	}
	all := slices.Clone(botNames)
	for _, name := range names { // a name that is itself a stop word would hide the stop
		if w := strings.Fields(strings.ReplaceAll(foldCase(name), ",", " ")); len(w) > 0 && !IsStop(name) {
			all = append(all, strings.Join(w, " "))
		}
	}
	return isStop(all)
}

// phraseWords returns the folded words of a message; a comma after a word marks a pause.
func phraseWords(message string) (words []string) {
	for w := range strings.FieldsSeq(foldCase(message)) {
		bare := strings.Trim(w, "-,")
		switch {
		case bare == "":
		case strings.HasSuffix(w, ","):
			words = append(words, bare+",")
		default:
			words = append(words, bare)
		}
	}
	return words
}

// match reads words as openers, a stop and tails, and falls back to the unspaced reading that Japanese needs.
func (l language) match(words, names []string) bool {
	words = skipPhrases(words, l.openers, names)
	return slices.ContainsFunc(l.stops, func(stop string) bool { return l.matchStop(words, stop, names) }) ||
		len(words) == 1 && l.matchUnspaced(strings.TrimSuffix(words[0], ","), names)
}

// matchStop reads words as a stop, then tails or another stop; a different stop must follow a pause.
func (l language) matchStop(words []string, stop string, names []string) bool {
	rest, ok := cutPhrase(words, stop)
	if !ok {
		return false
	}
	rest = skipPhrases(rest, l.tails, names)
	paused := len(rest) < len(words) && strings.HasSuffix(words[len(words)-len(rest)-1], ",")
	return len(rest) == 0 || l.matchStop(rest, stop, names) || paused && l.match(rest, names)
}

// matchUnspaced reads one run of letters without spaces, as Japanese is written. It applies only to non-Latin words.
func (l language) matchUnspaced(s string, names []string) bool {
	s = stripPhrases(s, names)
	if s == "" || s[0] < 0x80 {
		return false
	}
	bare := stripPhrases(s, l.openers)
	return slices.ContainsFunc(l.stops, func(stop string) bool {
		for _, s := range []string{s, bare} {
			if rest, ok := strings.CutPrefix(s, stop); ok && stripPhrases(rest, l.tails) == "" {
				return true
			}
		}
		return false
	})
}

// skipPhrases removes all leading phrases and names of the program from words.
func skipPhrases(words, phrases, names []string) []string {
	for again := true; again && len(words) > 0; {
		again = false
		for _, set := range [][]string{phrases, names} {
			for _, p := range set {
				if rest, ok := cutPhrase(words, p); ok {
					words, again = rest, true
				}
			}
		}
	}
	return words
}

// cutPhrase removes the words of phrase from the front of words.
func cutPhrase(words []string, phrase string) (rest []string, ok bool) {
	for p := range strings.FieldsSeq(phrase) {
		if len(words) == 0 || words[0] != p && strings.TrimSuffix(words[0], ",") != p {
			return nil, false
		}
		words = words[1:]
	}
	return words, true
}

// stripPhrases removes all leading parts from s.
func stripPhrases(s string, parts []string) string {
	for again := true; again && s != ""; {
		again = false
		for _, p := range parts {
			if rest, ok := strings.CutPrefix(s, p); ok {
				s, again = rest, true
			}
		}
	}
	return s
}

// foldCase normalises a message for the tables: compatibility composed (NFKC), case folded, accents of Latin letters
// dropped, chat mentions and punctuation replaced by spaces, after a comma where they mark a pause. Apostrophes and
// hyphens stay, as they join words: "non-stop" is not a stop.
func foldCase(s string) string {
	s = dropMentions(s)
	s = cases.Fold().String(norm.NFKC.String(s))
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
			// The voiced sound marks of kana are part of the letter.
			if r == '\u3099' || r == '\u309A' {
				b.WriteRune(r)
			}
		case unicode.Is(unicode.Cf, r):
		case r == '’' || r == '\'':
			b.WriteByte('\'')
		case strings.ContainsRune(",.!;:…、。", r):
			b.WriteString(", ")
		case r == '@' || r == 'ー' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return norm.NFC.String(b.String())
}

// dropMentions removes Discord's user mentions, <@123> and <@!123>.
func dropMentions(s string) string {
	for {
		i := strings.Index(s, "<@")
		if i < 0 {
			return s
		}
		n := strings.IndexByte(s[i:], '>')
		if n < 0 {
			return s
		}
		s = s[:i] + " " + s[i+n+1:]
	}
}
