package share_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/voice/share"
)

func TestALinkIsGoodForItsShareUntilItsEnd(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := &share.Links{Lifetime: time.Hour, Now: func() time.Time { return now }}
	token, until := l.Issue("share-1")
	other, _ := l.Issue("share-2")
	if share, got, err := l.Check(token); share != "share-1" || !got.Equal(until) || !until.Equal(now.Add(time.Hour)) || err != nil {
		t.Errorf("got %q until %v, error %v, want share-1 for an hour", share, got, err)
	}
	if url.PathEscape(token) != token {
		t.Errorf("%q cannot stand in a path as it is", token)
	}
	now = now.Add(time.Hour)
	if _, _, err := l.Check(token); !errors.Is(err, share.ErrLinkExpired) {
		t.Errorf("got error %v after an hour, want %v", err, share.ErrLinkExpired)
	}
	now = now.Add(-time.Minute)
	l.Revoke("share-1")
	if _, _, err := l.Check(token); !errors.Is(err, share.ErrLinkRevoked) {
		t.Errorf("got error %v after the share, want %v", err, share.ErrLinkRevoked)
	}
	if share, _, err := l.Check(other); share != "share-2" || err != nil {
		t.Errorf("got %q, error %v for the other share, want it untouched", share, err)
	}
}

func TestAForgedLinkIsWrong(t *testing.T) {
	var l, foreign share.Links
	token, _ := l.Issue("share")
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	for i := range raw {
		forged := append([]byte(nil), raw...)
		forged[i] ^= 1
		if _, _, err := l.Check(base64.RawURLEncoding.EncodeToString(forged)); !errors.Is(err, share.ErrLinkInvalid) {
			t.Fatalf("byte %d changed: got error %v, want %v", i, err, share.ErrLinkInvalid)
		}
	}
	strange, _ := foreign.Issue("share")
	for _, token := range []string{"", "x", "öä", token[:len(token)-1], token + "A", token + "=", strange, strings.Repeat("A", 10000)} {
		if _, _, err := l.Check(token); !errors.Is(err, share.ErrLinkInvalid) {
			t.Errorf("%.20q: got error %v, want %v", token, err, share.ErrLinkInvalid)
		}
	}
}

func FuzzCheck(f *testing.F) {
	var l share.Links
	token, _ := l.Issue("share")
	f.Add(token)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if _, _, err := l.Check(s); err == nil && s != token {
			t.Errorf("%q was taken, which nobody gave out", s)
		}
	})
}

func TestALinkLeadsToTheViewerPage(t *testing.T) {
	base := "https://clank.example/watch/"
	links := &share.Links{}
	s := &share.LinkTarget{Links: links, Address: func(token string) string {
		if base == "" {
			return ""
		}
		return base + token
	}}
	show := share.Presentation{ID: "share"}
	place, err := s.Begin(t.Context(), show)
	if err != nil {
		t.Fatal(err)
	}
	token, found := strings.CutPrefix(place.Link, base)
	if share, _, err := links.Check(token); !found || err != nil || share != "share" || !strings.Contains(place.Text, "120 minutes") {
		t.Errorf("got %+v, error %v, want a link to the share for two hours", place, err)
	}
	if err := s.End(t.Context(), show); err != nil {
		t.Fatal(err)
	}
	if _, _, err := links.Check(token); !errors.Is(err, share.ErrLinkRevoked) {
		t.Errorf("got error %v after the end, want %v", err, share.ErrLinkRevoked)
	}
	base = ""
	if _, err := s.Begin(t.Context(), show); err == nil || !strings.Contains(err.Error(), "settings") {
		t.Errorf("got error %v without an address, want the way out", err)
	}
}
