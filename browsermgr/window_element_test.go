package browsermgr_test

import (
	"strings"
	"testing"

	"clank/sessions"
)

// maze has what can be met in the main document, in a shadow root and in a frame of this process, and one in another.
const maze = `<style>body > * {position:fixed; left:0; width:200px; height:40px}</style>
	<button style="top:0"><b style="font-size:20px">Sign <i>in</i></b></button>
	<label style="top:50px"><span>E-mail</span><input id=mail></label>
	<input id=pass type=password aria-label="Your &quot;password&quot;" style="top:100px">
	<input id=code autocomplete=one-time-code aria-label=Code style="top:150px">
	<div style="top:200px">Just text</div>
	<canvas aria-label=Board style="top:250px">not shown</canvas>
	<div id=host style="top:300px"></div>
	<iframe id=near srcdoc="<input type=password aria-label=Inner style='width:150px;height:30px;border:0'>" style="top:350px;border:5px solid"></iframe>
	<iframe id=far src="FAR" style="left:300px;top:0;width:300px;height:200px"></iframe>`

func TestWhatInputReachesIsNamed(t *testing.T) {
	w := desk(t)
	u, _, _ := state(t, w)
	write(t, w, strings.Replace(maze, "FAR", strings.Replace(strings.Replace(u, "127.0.0.1", "localhost", 1), "/two", "/form", 1), 1))
	act(t, w, "evaluate", map[string]any{"fn": `const root = host.attachShadow({mode: 'closed'}); root.innerHTML = '<button style="width:200px;height:40px">Shadow</button>'; return ''`})
	eventually(t, "the frames are there", func() bool {
		text, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{})
		return err == nil && strings.Contains(text, "Name") && strings.Contains(text, "Inner")
	})
	for _, tt := range []struct {
		x, y       float64
		role, name string
		secret     bool
	}{
		{20, 20, "button", "Sign in", false},
		{10, 60, "textbox", "E-mail", false},
		{10, 110, "textbox", `Your "password"`, true},
		{10, 160, "textbox", "Code", true},
		{10, 210, "generic", "Just text", false},
		{10, 260, "generic", "Board", false},
		{20, 310, "button", "Shadow", false},
		{30, 370, "textbox", "Inner", true},
		{400, 20, "textbox", "Name", false},
		{700, 500, "", "", false},
	} {
		role, name, err := w.ElementAt(t.Context(), tt.x, tt.y)
		if err != nil || role != tt.role || name != tt.name {
			t.Errorf("at %v, %v: %s %q, %v; want %s %q", tt.x, tt.y, role, name, err, tt.role, tt.name)
		}
		if tt.role != "textbox" {
			continue
		}
		act(t, w, "clickCoords", map[string]any{"x": tt.x, "y": tt.y})
		role, name, secret, err := w.InputField(t.Context(), "")
		if err != nil || role != tt.role || name != tt.name || secret != tt.secret {
			t.Errorf("the focus after a click at %v, %v: %s %q, secret %t, %v", tt.x, tt.y, role, name, secret, err)
		}
	}
	if _, name, secret, err := w.InputField(t.Context(), refOf(t, w, `Code`)); err != nil || name != "Code" || !secret {
		t.Errorf("by ref: %q, secret %t, %v", name, secret, err)
	}
	if _, _, _, err := w.InputField(t.Context(), "e9999"); err == nil {
		t.Error("a ref that names nothing has a field")
	}
	act(t, w, "evaluate", map[string]any{"fn": `setTimeout(() => alert('stop'), 0); return ''`})
	eventually(t, "the dialog is open, and nothing can be met behind it", func() bool {
		role, name, err := w.ElementAt(t.Context(), 20, 20)
		return role+name == "" && err == nil
	})
}
