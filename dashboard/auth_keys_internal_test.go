package dashboard

import "testing"

func TestOnlyTheNewestUnusedCodesWork(t *testing.T) {
	k := new(authKeys)
	first := k.newCode()
	var last string
	for range maxCodes {
		last = k.newCode()
	}
	if k.useCode(first) || !k.useCode(last) || k.useCode(last) || k.useCode("") {
		t.Error("a forgotten, used or empty code works, or a new one does not")
	}
}
