package main

import (
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

//go:embed testdata/form.html
var formPage string

// newSite serves the pages /form, and /table/N with N elements.
func newSite() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/form", func(w http.ResponseWriter, _ *http.Request) { writeHTML(w, formPage) })
	mux.HandleFunc("/table/{nodes}", func(w http.ResponseWriter, r *http.Request) {
		nodes, err := strconv.Atoi(r.PathValue("nodes"))
		if err != nil || nodes < 1 || nodes > 100_000 {
			http.NotFound(w, r)
			return
		}
		writeHTML(w, tablePage(nodes))
	})
	return httptest.NewServer(mux)
}

func writeHTML(w http.ResponseWriter, html string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, html)
}

// tablePage has five elements a row: the row, two cells with text, one with a link, one with a button.
func tablePage(nodes int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Peers</title><h1>Table</h1><table><tbody>")
	for i := range nodes / 7 {
		fmt.Fprintf(&b, "<tr><td>row %d</td><td>value %d</td><td><a href='/form?%d'>open %d</a></td><td><button>edit "+
			"%d</button></td></tr>", i, i*i, i, i, i)
	}
	b.WriteString("</table>")
	return b.String()
}
