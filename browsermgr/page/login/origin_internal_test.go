package login

import (
	"testing"

	"clank/internal/test/check"
)

// The script in the page compares origins, too. This tests the check of the process's origin alone.
func TestOriginsAreComparedWithSchemeHostAndPort(t *testing.T) {
	s := tabFrame{origin: "https://shop.example:8443"}
	for other, want := range map[string]bool{
		"https://shop.example:8443": true, "https://shop.example": false, "https://shop.example:443": false,
		"https://shop.example:8444": false,
		"https://shop.example:844":  false, "http://shop.example:8443": false, "https://www.shop.example:8443": false,
		"": false,
	} {
		check.Equal(t, other, s.of([]string{"https://else.example", other}), want)
	}
	if (tabFrame{}).of(nil) {
		t.Error("a document without an origin is of none")
	}
}
