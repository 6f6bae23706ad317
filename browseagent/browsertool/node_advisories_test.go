package browsertool_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
)

// GHSA-vmhq-cqm9-6p7q: who may use the browsers of a node could also make and delete its profiles.
func TestAdvisoryProfilesChangedThroughANode(t *testing.T) {
	r := newRig(t, say(map[string]any{"ok": true}))
	for _, route := range [][2]string{
		{"POST", "/profiles/create"},
		{"DELETE", "/profiles/work"},
		{"POST", "/reset-profile"},
		{"POST", "//profiles/create"},
		{"POST", "/tabs/../profiles/create"},
		{"DELETE", "/%70rofiles/work"},
		{"delete", "/profiles%2Fwork"},
	} {
		if status, answer, err := r.client.Call(t.Context(), route[0], route[1], nil, map[string]any{"name": "x"}); err != nil || status == http.StatusOK {
			t.Errorf("%v: got %d %s, %v, want a refusal", route, status, answer, err)
		}
	}
	if reached := r.reached(); len(reached) > 0 {
		t.Errorf("these reached the control API: %q", reached)
	}
}

// GHSA-6rph-mmhp-h7h9: a file of any size was read into memory and sent through the node's proxy.
func TestAdvisoryFilesOfAnySizeThroughANode(t *testing.T) {
	var path string
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) { say(map[string]any{"ok": true, "path": path})(w, q) })
	path = filepath.Join(r.media, "huge.png")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 8<<30); err != nil { // a hole: it takes no room
		t.Fatal(err)
	}
	status, answer, err := r.client.Call(t.Context(), "POST", "/screenshot", nil, nil)
	if err != nil || status != http.StatusOK || !strings.Contains(string(answer), "larger than") || len(answer) > browsertool.MaxNodeFile {
		t.Errorf("got %d %d bytes %.200s, %v", status, len(answer), answer, err)
	}
	if files, err := os.ReadDir(r.client.Dir); err != nil || len(files) > 0 {
		t.Errorf("written here: %v, %v", files, err)
	}
}
