package untrusted

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold converts s to lower-case ASCII as far as its letters and brackets look like ASCII, and drops invisible
// characters.
func fold(s string) folded {
	f := folded{runes: make([]rune, 0, len(s)), from: make([]int, 0, len(s)), length: len(s)}
	for i, r := range s {
		if r < utf8.RuneSelf {
			f.runes, f.from = append(f.runes, unicode.ToLower(r)), append(f.from, i)
			continue
		}
		f.runes = appendLike(f.runes, r)
		for len(f.from) < len(f.runes) {
			f.from = append(f.from, i)
		}
	}
	return f
}

// appendLike appends what r, which is not ASCII, looks like: nothing if it is invisible, several runes if it is
// composed of several.
//
// What resembles a letter or digit but is neither is appended as its negative.
func appendLike(to []rune, r rune) []rune {
	if plainLetter(r) {
		return append(to, r)
	}
	had := len(to)
	to = appendSeen(to, r)
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		for i, like := range to[had:] {
			if like >= 'a' && like <= 'z' || like >= '0' && like <= '9' {
				to[had+i] = -like
			}
		}
	}
	return to
}

func appendSeen(to []rune, r rune) []rune {
	if c, ok := lookAlikes()[r]; ok {
		return append(to, c)
	}
	var buf [utf8.UTFMax]byte
	own := buf[:utf8.EncodeRune(buf[:], r)]
	parts := norm.NFKD.Properties(own).Decomposition()
	if parts == nil {
		parts = own
	}
	for len(parts) > 0 {
		c, n := utf8.DecodeRune(parts)
		parts = parts[n:]
		if seen := asciiLetter(c); seen != 0 {
			to = append(to, seen)
		}
	}
	return to
}

// plainLetter reports whether r is one of the common East Asian letters, which resemble no other.
func plainLetter(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 || r >= 0x3041 && r <= 0x3096
}

// asciiLetter returns what c looks like, or 0 if c is invisible or a combining mark.
func asciiLetter(c rune) rune {
	if d, ok := lookAlikes()[c]; ok {
		return d
	}
	switch {
	case c >= 0x1D400 && c <= 0x1D6A3:
		// mathematical letters; the gaps in the block, which fonts and models fill, do not decompose
		return 'a' + (c-0x1D400)%26
	case c >= 0x1F130 && c <= 0x1F189: // squared and circled letters
		if n := (c - 0x1F130) % 0x20; n < 26 {
			return 'a' + n
		}
	case c >= 0x1F1E6 && c <= 0x1F1FF: // regional indicators
		return 'a' + c - 0x1F1E6
	case unicode.In(c, unicode.M, unicode.Cf, unicode.Cc, unicode.Co):
		return 0
	}
	if c = unicode.ToLower(c); c < utf8.RuneSelf {
		return c
	}
	if d, ok := lookAlikes()[c]; ok {
		return d
	}
	return c
}

// lookAlikes are characters without a compatibility decomposition that people or models read as the ASCII character.
// Only the letters of the marker's name matter. Zero-width and blank characters are mapped to a space.
var lookAlikes = sync.OnceValue(func() map[rune]rune {
	all := make(map[rune]rune, 256)
	for ascii, others := range map[rune]string{
		'<': "‹«〈〈⟨《⟪❮❬❰˂ᐸ᚜⧼≺⋖≪⋘⦑⦓⪡＜﹤⟪⫷",
		'>': "›»〉〉⟩》⟫❯❭❱˃ᐳ᚛⧽≻⋗≫⋙⦒⦔⪢＞﹥⟫⫸",
		' ': "\u115f\u1160\u3164\uffa0\u2800\u180e\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u17b4\u17b5",
		'a': "аАαΑɑᴀⱭꓮᎪꭺ∀ᗅⲁⲀ",
		'c': "сСϲϹᴄꓚᏟꮯⅽⅭ¢ⲥⲤᑕ𐐕",
		'd': "ԁԀᴅꓓᎠꭰⅾⅮðđĐɖᗞᗪ",
		'e': "еЕεΕєЄɛᴇꓰᎬꭼℯəƐҽⴹ∃Ɛⲉ",
		'l': "ӏӀʟꓡᏞꮮⅼⅬłŁɭ⎸∣ǀⵏⅠ׀וןا|ıІіιΙⲓⲒ",
		'n': "пΝηոռᴎɴꓠղƞŋŊИⲚⲛ",
		'o': "оОοΟσσօՕᴏꓳθΘⲟⲞ०০๐໐〇◯○øØѳⵔ",
		'r': "гГᴦʀꓣᎡꭱᏒꮢɼɾяЯ®ꮁⲅ",
		's': "ѕЅꜱꓢᏚꮪʂƨſՏჽ§",
		't': "тТτΤᴛꓔᎢꭲ⊤⟙✝†ŧŦⲧⲦ𐊗",
		'u': "υսՍᴜꓴμʊцЦՄ∪⋃ᑌԱບ",
		'x': "хХχΧᴕꓫ×✕✖⨯ⅹⅩᕁ᙮ⲭⲬ╳",
		'_': "‗ˍ",
	} {
		for _, r := range others {
			all[r] = ascii
		}
	}
	return all
})
