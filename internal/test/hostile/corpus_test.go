package main

import (
	"regexp"
	"strings"
	"testing"
)

var templateWord = regexp.MustCompile(`@[a-z]+@`)

func TestCasesAreManyAndDifferent(t *testing.T) {
	cases := RangeCases(true)
	seen := map[string]bool{}
	for i, c := range cases {
		if seen[c.Title()] {
			t.Errorf("two cases are called %s", c.Title())
		}
		seen[c.Title()] = true
		if c.Number != i {
			t.Errorf("%s has number %d, want %d", c.Title(), c.Number, i)
		}
	}
	if got, want := len(cases), 150; got < want {
		t.Errorf("%d cases, want %d at least", got, want)
	}
}

func TestCasesOnLoopbackNeedNothingElse(t *testing.T) {
	cases := RangeCases(false)
	for _, c := range cases {
		if !c.Addr.IsLoopback() || c.NameKind != "" {
			t.Errorf("%s is not for loopback", c.Title())
		}
	}
	if got, want := len(cases), 100; got < want {
		t.Errorf("%d cases, want %d at least", got, want)
	}
}

func TestPagesUseWordsThatAreKnown(t *testing.T) {
	known := "@id@ @hostport@ @raw@ @port@ @url@ @sock@ @http@ @https@ @ws@ @wss@ @self@ @other@ @extra@"
	for _, c := range RangeCases(true) {
		texts := []string{c.Page, c.Visit}
		for _, m := range []map[string]string{c.Head, c.Early, c.Files} {
			for _, text := range m {
				texts = append(texts, text)
			}
		}
		for _, w := range templateWord.FindAllString(strings.Join(texts, " "), -1) {
			if !strings.Contains(known, w) {
				t.Errorf("%s uses %s", c.Title(), w)
			}
		}
	}
}

func TestHostsAreSpelledForURLs(t *testing.T) {
	for _, c := range RangeCases(true) {
		host := c.URLHost("b001")
		if strings.Count(host, ":") > 0 && !strings.HasPrefix(host, "[") {
			t.Errorf("%s: host %q wants brackets", c.Title(), host)
		}
	}
}
