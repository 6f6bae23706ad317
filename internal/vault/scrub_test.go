package vault_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"image/png"
	"net/url"
	"slices"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/vault"
)

// revealed returns a vault whose entry "shop" was revealed with this password.
func revealed(tb testing.TB, password string) *vault.Vault {
	tb.Helper()
	dir := tb.TempDir()
	v, err := vault.Open(tb.Context(), vault.Options{Path: dir + "/vault.json", KeyFile: dir + "/vault.key"})
	check.Must(tb, err)
	n := shop()
	n.Password = password
	check.Must(tb, v.Put(tb.Context(), n))
	check.Must(tb, check.Err(v.Reveal(tb.Context(), "shop", "https://shop.example")))
	return v
}

func TestSecretsAtTheEndsOfATextAreReplaced(t *testing.T) {
	v := revealed(t, "abcdefgh")
	for text, want := range map[string]string{
		"abcdefgh": "[secret shop]", "it is abcdefg…": "it is [secret shop]…", "it is abcdef": "it is [secret shop]",
		"it is abcde": "it is abcde",
	} {
		check.Equal(t, text, v.Scrub(text), want)
	}
	short := revealed(t, "zyxw")
	if got := string(short.ScrubJSON([]byte(`"zyxw"`))); got != `"[secret shop]"` ||
		short.Scrub("zyxw") != "[secret shop]" {
		t.Errorf("a text that is the secret becomes %s and %s", got, short.Scrub("zyxw"))
	}
}

// disguises are encodings in which a page or a protocol may write a secret.
var disguises = map[string]func(string) string{
	"plain":         func(s string) string { return s },
	"form":          url.QueryEscape,
	"path":          url.PathEscape,
	"component":     func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"lower percent": func(s string) string { return strings.ToLower(url.QueryEscape(strings.ToLower(s))) },
	"fragment": func(s string) string {
		return strings.NewReplacer(" ", "%20", `"`, "%22", "<", "%3C", ">", "%3E").Replace(s) + "%"
	},
	"every byte": func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%%%02x", s[i])
		}
		return b.String()
	},
	"three times":  func(s string) string { return url.QueryEscape(url.PathEscape(url.QueryEscape(s))) },
	"twice":        func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"JSON":         func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"JSON in form": func(s string) string { b, _ := json.Marshal(s); return url.QueryEscape(string(b)) },
	"HTML":         html.EscapeString,
	"HTML by DOM": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	},
	"attribute": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
	},
	"base64":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"basic":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ada:" + s)) },
	"basic shifted": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("adal:" + s + "x")) },
	"body in base64": func(s string) string {
		return base64.RawURLEncoding.EncodeToString([]byte("user=adalb&p=" + s + "&q=1"))
	},
	"hex":   func(s string) string { return hex.EncodeToString([]byte(s)) },
	"upper": strings.ToUpper,
}

// parted are forms in which people still recognize a secret. Short secrets are not searched for in them.
var parted = map[string]func(string) string{
	"spaced":       func(s string) string { return strings.Join(strings.Split(s, ""), " ") },
	"lines":        func(s string) string { return strings.Join(strings.Split(s, ""), "\n") },
	"soft hyphens": func(s string) string { return strings.Join(strings.Split(s, ""), "\u00ad") },
	"zero width":   func(s string) string { return s[:3] + "\u200b" + s[3:] },
	"joiners":      func(s string) string { return strings.Join(strings.Split(s, ""), "\u2060\u034f") },
	"backwards":    func(s string) string { r := []rune(s); slices.Reverse(r); return string(r) },
	"backwards, spaced": func(s string) string {
		r := strings.Split(s, "")
		slices.Reverse(r)
		return strings.Join(r, " ")
	},
}

func TestSecretsThatAreSpacedOutOrBackwardsAreScrubbed(t *testing.T) {
	for _, secret := range []string{password, "correct horse battery", "日本語のパスワード"} {
		v := revealed(t, secret)
		for name, part := range parted {
			check.Equal(t, fmt.Sprintf("%s of %q", name, secret), v.Scrub("before "+part(secret)+" after"),
				"before [secret shop] after")
		}
	}
	v := revealed(t, "to day")
	for _, text := range []string{"today is a good day", "yad ot", "in toda y s"} {
		if got := v.Scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestSecretsAreScrubbedInEverySpelling(t *testing.T) {
	for _, secret := range []string{
		password, "correct horse battery", "p@ss/word+1=&?#%41", "日本語のパスワード", "aB3$",
		"back\\slash\"quote", "emoji😀pass",
	} {
		v := revealed(t, secret)
		for name, disguise := range disguises {
			hidden := disguise(secret)
			if got := v.Scrub("before " + hidden + " after"); strings.Contains(got, hidden) ||
				!strings.Contains(got, "[secret shop]") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: got %q", name, secret, got)
			}
			message, err := json.Marshal(map[string]any{"id": 1, "result": map[string]any{"text": "x " + hidden}})
			check.Must(t, err)
			clean := v.ScrubJSON(message)
			var out struct{ Result struct{ Text string } }
			if err := json.Unmarshal(clean, &out); err != nil {
				t.Fatalf("%s of %q: %s is no JSON any more", name, secret, clean)
			}
			if strings.Contains(out.Result.Text, hidden) {
				t.Errorf("%s of %q: got %s", name, secret, clean)
			}
		}
	}
}

func TestNothingIsScrubbedBeforeItIsRevealed(t *testing.T) {
	v := open(t, options(t))
	put(t, v, shop())
	check.Equal(t, "v.Scrub(password)", v.Scrub(password), password)
	data := []byte(`"` + "x" + `"`)
	if got := v.ScrubJSON(data); &got[0] != &data[0] {
		t.Error("it was copied")
	}
	check.Equal(t, "allocations", testing.AllocsPerRun(100, func() { v.Scrub(password) }), 0)
}

// A page that received a secret may show it at any time, even after a restart of clank.
func TestSecretsOfEarlierRunsAreScrubbedFromTheStart(t *testing.T) {
	o := options(t)
	v := open(t, o)
	put(t, v, shop())
	other := shop()
	other.Name, other.Password = "other", "never-given-away"
	put(t, v, other)
	check.Must(t, check.Err(v.Reveal(t.Context(), "shop", "https://shop.example")))
	again := open(t, o)
	check.Equal(t, "text", again.Scrub(password+other.Password), "[secret shop]"+other.Password)
	known, err := again.Revealed(t.Context())
	check.Must(t, err)
	if len(known) != 1 || known[0].Name() != "shop" || known[0].Password() != password ||
		!slices.Contains(known[0].Origins(), "https://shop.example") {
		t.Errorf("it knows %v", known)
	}
	check.Must(t, again.Rekey(t.Context()))
	check.Equal(t, "after a new key", open(t, o).Scrub(password), "[secret shop]")
}

func TestMessagesStayReadableWhateverThePassword(t *testing.T) {
	for _, secret := range []string{"method", "result", "object", "Page", "value", "string"} {
		v := revealed(t, secret)
		in := `{"method":"Page.frameNavigated","params":{"result":{"type":"object","value":1},"text":"my ` + secret +
			`"},"sessionId":"0123456789ABCDEF0123456789ABCDEF"}`
		want := strings.Replace(in, "my "+secret, "my [secret shop]", 1)
		check.Equal(t, secret, string(v.ScrubJSON([]byte(in))), want)
	}
	v := revealed(t, "BEEF")
	id := `{"targetId":"0123456789BEEF012345678901234567","text":"BEEF"}`
	check.Equal(t, "scrub JSON", string(v.ScrubJSON([]byte(id))), strings.Replace(id, `"BEEF"`, `"[secret shop]"`, 1))
}

func TestAPasswordThatIsAWordOfOursEndsTheSearchToo(t *testing.T) {
	for _, secret := range []string{"secret", "shop]", "secret shop"} {
		v := revealed(t, secret)
		if got := v.Scrub("100% " + secret + " " + strings.ReplaceAll(url.QueryEscape(secret), "e", "%65")); strings.Contains(
			got, "%65") {
			t.Errorf("%s: got %s", secret, got)
		}
	}
}

func TestImagesAreNotSearchedForShortSecrets(t *testing.T) {
	var picture, photo bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 3)
	}
	check.Must(t, png.Encode(&picture, img))
	check.Must(t, jpeg.Encode(&photo, img, nil))
	for _, whole := range [][]byte{picture.Bytes(), photo.Bytes()} {
		text := base64.StdEncoding.EncodeToString(whole)
		v := revealed(t, text[30:35])
		if got := v.Scrub(text); got != text {
			t.Error("a picture was changed")
		}
		for name, other := range map[string]string{
			"that begins like a picture": text[:len(text)/2] + text[30:35] + strings.Repeat("B", 300),
			"with more words in it":      text[:300] + " " + text[30:35],
			"of the first bytes":         text[:12] + strings.Repeat("C", 300) + text[30:35],
		} {
			if got := v.Scrub(other); got == other {
				t.Errorf("a text %s was left", name)
			}
		}
		long := revealed(t, text[100:120])
		check.Lacks(t, long.Scrub(text), text[100:120])
	}
}

func TestTheBeginningOfASecretThatWasCutOffIsScrubbed(t *testing.T) {
	v := revealed(t, "correct-horse-battery")
	for in, want := range map[string]string{
		"my password is correct-hor…": "my password is [secret shop]…",
		"correct-horse":               "[secret shop]",
		"correct…":                    "[secret shop]…",
		"that is corr":                "that is corr",
	} {
		check.Equal(t, in, v.Scrub(in), want)
	}
}

func FuzzScrubbedJSONStaysJSONWithoutTheSecret(f *testing.F) {
	for _, s := range []string{
		`{"a":"hunter2!"}`, `["hunter2!\"",{"hunter2!":1}]`, `"\u0068unter2!"`,
		`{"id":1,"result":{"x":"aHVudGVyMiE="}}`, `"`, `\`,
	} {
		f.Add([]byte(s))
	}
	v := revealed(f, "hunter2!")
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.Clone(data)
		got := v.ScrubJSON(data)
		if !bytes.Equal(in, data) {
			t.Fatal("the input was changed")
		}
		if !json.Valid(in) {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s became %s", in, got)
		}
		var value any
		if err := json.Unmarshal(got, &value); err == nil && holds(value, "hunter2!") {
			t.Fatalf("%s became %s", in, got)
		}
	})
}

// holds reports whether a string somewhere in a decoded value contains s.
func holds(value any, s string) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, s)
	case []any:
		for _, v := range value {
			if holds(v, s) {
				return true
			}
		}
	case map[string]any:
		for k, v := range value {
			if strings.Contains(k, s) || holds(v, s) {
				return true
			}
		}
	}
	return false
}

func BenchmarkScrubJSON(b *testing.B) {
	v := revealed(b, "correct-horse-battery")
	message := []byte(`{"id":7,"result":{"text":"` + strings.Repeat("A page that says a lot, and nothing that matters. ",
		2000) + `"}}`)
	b.SetBytes(int64(len(message)))
	v.ScrubJSON(message) // makes what later calls reuse
	for b.Loop() {
		v.ScrubJSON(message)
	}
}

// The spellings are listed explicitly: each is produced by some page, protocol or library for the same password.
func TestEachSpellingIsKnownByItself(t *testing.T) {
	const secret = `q"w'e&r<t/é😀Z9`
	v := revealed(t, secret)
	for name, hidden := range map[string]string{
		"as it is":                     secret,
		"upper":                        `Q"W'E&R<T/É😀Z9`,
		"lower":                        `q"w'e&r<t/é😀z9`,
		"JSON":                         `q\"w'e\u0026r\u003ct/é😀Z9`,
		"JSON without HTML's":          `q\"w'e&r<t/é😀Z9`,
		"JSON in ASCII":                `q\"w'e&r<t/\u00e9\ud83d\ude00Z9`,
		"JSON with slashes":            `q\"w'e&r<t\/é😀Z9`,
		"HTML":                         `q&#34;w&#39;e&amp;r&lt;t/é😀Z9`,
		"HTML with names":              `q&quot;w&#39;e&amp;r&lt;t/é😀Z9`,
		"HTML as an attribute":         `q&quot;w'e&amp;r&lt;t/é😀Z9`,
		"HTML as a text":               `q"w'e&amp;r&lt;t/é😀Z9`,
		"HTML in hex":                  `q&quot;w&#x27;e&amp;r&lt;t/é😀Z9`,
		"HTML with apos":               `q&quot;w&apos;e&amp;r&lt;t/é😀Z9`,
		"HTML with three digits":       `q&quot;w&#039;e&amp;r&lt;t/é😀Z9`,
		"JSON in a form":               `q%5C%22w%27e%5Cu0026r%5Cu003ct%2F%C3%A9%F0%9F%98%80Z9`,
		"HTML in a form":               `q%26%2334%3Bw%26%2339%3Be%26amp%3Br%26lt%3Bt%2F%C3%A9%F0%9F%98%80Z9`,
		"hex":                          hex.EncodeToString([]byte(secret)),
		"upper hex":                    strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"base64 of JSON":               base64.StdEncoding.EncodeToString([]byte(`{"p":"q\"w'e&r<t/é😀Z9"}`)),
		"base64 of a form":             base64.URLEncoding.EncodeToString([]byte("p=" + url.QueryEscape(secret))),
		"base64 in a form":             url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("??>" + secret))),
		"base64, one place further":    base64.StdEncoding.EncodeToString([]byte("x" + secret + "y")),
		"base64, two places further":   base64.StdEncoding.EncodeToString([]byte("xx" + secret + "yy")),
		"base64, at its own place":     base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64, three places further": base64.StdEncoding.EncodeToString([]byte("xxx" + secret)),
	} {
		if got := v.Scrub("<" + hidden + ">"); !strings.Contains(got, "[secret shop") || strings.Contains(got, hidden) {
			t.Errorf("%s: got %s", name, got)
		}
	}
	spaced := revealed(t, "  two  words\there ")
	for _, hidden := range []string{"  two  words\there ", "two  words\there", "two words here"} {
		if got := spaced.Scrub("<" + hidden + ">"); !strings.Contains(got, "[secret shop") ||
			strings.Contains(strings.ToLower(got), "two") {
			t.Errorf("%q: got %q", hidden, got)
		}
	}
}

func TestOnlyNamesOfTheProtocolAreLeft(t *testing.T) {
	v := revealed(t, "Page")
	long := strings.Repeat("Page", 12)
	for in, want := range map[string]string{
		`{"Page":1}`:                           `{"Page":1}`, // the name of a member
		`{"method":"Page.load"}`:               `{"method":"Page.load"}`,
		`{"type" : "Page"}`:                    `{"type" : "Page"}`,
		`{"subtype":"Page"}`:                   `{"subtype":"Page"}`,
		`{"text":"Page"}`:                      `{"text":"[secret shop]"}`,
		`["Page"]`:                             `["[secret shop]"]`,
		`{"my Page":1}`:                        `{"my [secret shop]":1}`,
		`{"Page9":1}`:                          `{"[secret shop]9":1}`,
		`{"method":"Page load"}`:               `{"method":"[secret shop] load"}`,
		`{"method":"` + long + `"}`:            `{"method":"` + strings.Repeat("[secret shop]", 12) + `"}`,
		`{"method":"x","text":"Page"}`:         `{"method":"x","text":"[secret shop]"}`,
		`{"type":"x","text":{"value":"Page"}}`: `{"type":"x","text":{"value":"[secret shop]"}}`,
		`{"text":"a \"Page\" b"}`:              `{"text":"a \"[secret shop]\" b"}`,
		`{"text":"\u0050age \\"}`:              `{"text":"[secret shop] \\"}`,
		`{"text":"\x Page"}`:                   `{"text":"\\x [secret shop]"}`,
		`{"a":"Page","b":"` + "Pag" + `e ok"}`: `{"a":"[secret shop]","b":"[secret shop] ok"}`,
	} {
		check.Equal(t, in, string(v.ScrubJSON([]byte(in))), want)
	}
}
