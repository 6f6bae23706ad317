package videosource_test

import (
	"bytes"
	"image/jpeg"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/videosource"
)

func TestASignTellsWhoWorksThePage(t *testing.T) {
	t.Parallel()
	sign := func(name string) string {
		t.Helper()
		p, err := videosource.Sign(name)
		check.Must(t, err)
		size, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
		if err != nil || size.Width != p.Width || size.Height != p.Height {
			t.Errorf("a sign of %d × %d: %v", p.Width, p.Height, err)
		}
		return string(p.JPEG)
	}
	if sign("ada") == sign("Zoë") || sign("ada") == sign("") {
		t.Error("the sign does not tell the name")
	}
	if sign("日本") != sign("") {
		t.Error("a name without letters to draw it is not left out")
	}
	if sign(strings.Repeat("w", 40)) != sign(strings.Repeat("w", 4000)) {
		t.Error("a long name is not cut")
	}
}
