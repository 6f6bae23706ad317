package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
)

// form is the page for everyone: people open it with an address of their own, type a name, press the button, and read
// that it was saved.
const form = `<!doctype html><meta charset="utf-8"><title>Register</title><link rel="icon" href="data:,"><h1>Register</h1>
<nav><a href="/form">Home</a> <a href="/about">About</a></nav>
<form onsubmit="return false">
<label>Name <input id="name"></label> <label>Mail <input type="email"></label>
<label>Country <select><option>Peru<option>Norway<option>Chad</select></label>
<label><input type="checkbox"> News</label>
<button type="button" onclick="said.textContent='saved '+document.getElementById('name').value">Save</button>
</form><p id="said"></p><ul><li>one<li>two<li>three</ul>
`

// NewSite serves the form. The caller closes the server.
func NewSite() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, form)
	}))
}

var (
	nameRef = regexp.MustCompile(`textbox \\?"Name\\?"[^\n\\]*?\[ref=(\w+)\]`)
	saveRef = regexp.MustCompile(`button \\?"Save\\?"[^\n\\]*?\[ref=(\w+)\]`)
)

// Refs returns the refs of the field and the button in a snapshot of the form, which may be inside JSON; the last
// match counts.
func Refs(snapshot []byte) (name, save string, err error) {
	names, saves := nameRef.FindAllSubmatch(snapshot, -1), saveRef.FindAllSubmatch(snapshot, -1)
	if names == nil || saves == nil {
		return "", "", fmt.Errorf("the form is not in %.2000s", snapshot)
	}
	return string(names[len(names)-1][1]), string(saves[len(saves)-1][1]), nil
}
