package untrusted

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings s to lower-case ASCII as far as its letters and brackets look
// like it, and leaves out what cannot be seen.
func fold(s string) folded {
	f := folded{runes: make([]rune, 0, len(s)), from: make([]int, 0, len(s)), length: len(s)}
	add := func(r rune, at int) {
		f.runes = append(f.runes, r)
		f.from = append(f.from, at)
	}
	for i, r := range s {
		if r < utf8.RuneSelf {
			add(unicode.ToLower(r), i)
			continue
		}
		if c, ok := lookAlikes[r]; ok {
			add(c, i)
			continue
		}
		for _, c := range norm.NFKD.String(string(r)) {
			if seen := letter(c); seen != 0 {
				add(seen, i)
			}
		}
	}
	return f
}

// letter is what c looks like; 0 if it cannot be seen or sits on a letter.
func letter(c rune) rune {
	if d, ok := lookAlikes[c]; ok {
		return d
	}
	switch {
	case c >= 0x1F130 && c <= 0x1F189: // squared and circled letters, in three alphabets
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
	if d, ok := lookAlikes[c]; ok {
		return d
	}
	return c
}

// lookAlikes are characters that compatibility decomposition leaves alone and
// that people, or models, read as the ASCII character. Only the letters of our
// marker's name matter. A zero-width or blank one stands for a space.
var lookAlikes = alike(map[rune]string{
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
})

func alike(m map[rune]string) map[rune]rune {
	out := make(map[rune]rune, 256)
	for ascii, others := range m {
		for _, r := range others {
			out[r] = ascii
		}
	}
	return out
}
