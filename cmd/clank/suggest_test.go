package main

import "testing"

func TestOnlyACloseWordIsMeant(t *testing.T) {
	known := []string{"open", "close", "snapshot", "--target-id", "--browser-profile"}
	for word, want := range map[string]string{
		"opne":      "; did you mean open?",
		"clsoe":     "; did you mean close?",
		"snapshoot": "; did you mean snapshot?",
		"--profile": "; did you mean --browser-profile?", // the end of its name
		"--targt":   "",
		"id":        "",
		"fly":       "",
		"":          "",
	} {
		if got := didYouMean(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
