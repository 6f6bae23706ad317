package main

import (
	"context"
	"fmt"
	"maps"
)

// actionCases are actions that work, each with its effect on the page.
func actionCases() []testCase {
	type m = map[string]any
	said := "document.getElementById('said').textContent"
	name := "document.getElementById('name').value"
	do := func(name, page, look string, want any, actions ...m) testCase {
		return testCase{Name: name, Run: func(ctx context.Context, s *controlSuite) error {
			if err := s.openPage(ctx, page); err != nil {
				return err
			}
			for _, a := range actions {
				answer, err := s.Act(ctx, a)
				if err != nil {
					return err
				}
				if answer["ok"] != true || answer["targetId"] == nil || answer["url"] == nil {
					return fmt.Errorf("%s answered %v", a["kind"], answer)
				}
			}
			var got any
			if err := s.Evaluate(ctx, look, &got); err != nil {
				return err
			}
			return wantEqualJSON(look, got, want)
		}}
	}
	value := func(fn string, want any) testCase {
		c := do("evaluate "+fn, "/form", "0", 0, m{"kind": "evaluate", "fn": fn})
		return testCase{Name: c.Name, Run: func(ctx context.Context, s *controlSuite) error {
			if err := c.Run(ctx, s); err != nil {
				return err
			}
			var got any
			if err := s.Evaluate(ctx, fn, &got); err != nil {
				return err
			}
			return wantEqualJSON(fn, got, want)
		}}
	}
	return []testCase{
		do("click", "/form", said, "saved", m{"kind": "click", "selector": "#save"}),
		do("click scrolls to its target", "/form", said, "far", m{"kind": "click", "selector": "#far"}),
		do("double click", "/form", said, "saved twice", m{"kind": "click", "selector": "#save", "doubleClick": true}),
		do("the other button", "/form", said, "context", m{"kind": "click", "selector": "#save", "button": "right"}),
		do("click after a pause", "/form", said, "saved", m{"kind": "click", "selector": "#save", "delayMs": 20}),
		do("type replaces", "/form", name, "Ada Lovelace", m{"kind": "type", "selector": "#name", "text": "Ada Lovelace"}),
		do("type keeps spaces", "/form", name, "  x  ", m{"kind": "type", "selector": "#name", "text": "  x  "}),
		do("type nothing", "/form", name, "", m{"kind": "type", "selector": "#name", "text": ""}),
		do("type slowly", "/form", name, "beforeab", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "type", "selector": "#name", "text": "ab", "slowly": true}),
		do("press keeps the focus", "/form", name, "beforeX", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Shift+X"}),
		do("key names of old clients", "/form", name, "befor", m{"kind": "click", "selector": "#name"}, m{"kind": "press", "key": "End"}, m{"kind": "press", "key": "Backspace"}),
		do("select by value", "/form", "document.getElementById('country').value", "no", m{"kind": "select", "selector": "#country", "values": []string{"no"}}),
		do("select by label", "/form", "document.getElementById('country').value", "no", m{"kind": "select", "selector": "#country", "values": []string{"Norway"}}),
		do("select several", "/form", "[...document.getElementById('many').selectedOptions].map(o=>o.value)", []string{"a", "c"}, m{"kind": "select", "selector": "#many", "values": []string{"a", "c"}}),
		do("drag", "/drag", said, "dropped", m{"kind": "drag", "startSelector": "#from", "endSelector": "#to"}),
		do("scroll into view", "/form", "document.getElementById('far').getBoundingClientRect().top < innerHeight", true, m{"kind": "scrollIntoView", "selector": "#far"}),
		do("resize", "/form", "[innerWidth, innerHeight]", []int{500, 400}, m{"kind": "resize", "width": 500, "height": 400}),
		do("wait for a time", "/plain", "1", 1, m{"kind": "wait", "timeMs": 5}),
		do("wait for a text in any case", "/late", "1", 1, m{"kind": "wait", "text": "late text"}),
		do("wait for a text to go", "/late", "1", 1, m{"kind": "wait", "textGone": "early"}),
		do("wait for an address", "/late", "1", 1, m{"kind": "wait", "url": "**/late#late"}),
		do("wait for a selector", "/form", "1", 1, m{"kind": "wait", "selector": "#save"}),
		do("wait for a load", "/form", "1", 1, m{"kind": "wait", "loadState": "networkidle"}),
		do("wait for a function", "/late", "1", 1, m{"kind": "wait", "fn": "async () => document.title === 'Late'"}),
		do("wait for all of it", "/late", "1", 1, m{"kind": "wait", "timeMs": 1, "text": "Late", "loadState": "load", "fn": "1"}),
		value("1 + 1", 2),
		value("() => document.title", "Form"),
		value("async () => { return [1, 'two', null] }", []any{1, "two", nil}),
		value("const a = 3; return a * 2", 6),
		value("await 7", 7),
		{Name: "evaluate with an element", Run: evaluateElement},
		{Name: "undefined is left out", Run: undefinedOmitted},
		{Name: "a batch", Run: postBatch},
		{Name: "a batch ends at its first failure", Run: batchStops},
		{Name: "a batch goes on if told so", Run: batchGoesOn},
		{Name: "a batch tells of a navigation", Run: batchNavigates},
		{Name: "fill all kinds of fields", Run: fillFields},
		{Name: "click at coordinates", Run: clickCoords},
		{Name: "close", Run: closeKind},
	}
}

func evaluateElement(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	save, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	for _, fn := range []string{"el => el.id", "(el) => { return el.id }", "el.id", "return el.id"} {
		answer, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": fn, "ref": save})
		if err != nil {
			return err
		}
		if err := wantEqualJSON(fn, answer["result"], "save"); err != nil {
			return err
		}
	}
	return nil
}

func undefinedOmitted(ctx context.Context, s *controlSuite) error {
	answer, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "undefined"})
	if err != nil {
		return err
	}
	if v, there := answer["result"]; there {
		return fmt.Errorf("result = %v, want none", v)
	}
	return nil
}

type batchAnswer struct {
	OK      bool
	Results []struct {
		OK        bool
		Error     string
		Navigated bool
		URL       string
	}
	Aborted *struct {
		Reason      string
		AfterAction int
		URL         string
		Skipped     int
	}
}

func runBatch(ctx context.Context, s *controlSuite, page string, more map[string]any, actions ...map[string]any) (batchAnswer, error) {
	var answer batchAnswer
	if err := s.openPage(ctx, page); err != nil {
		return answer, err
	}
	body := map[string]any{"kind": "batch", "actions": actions}
	maps.Copy(body, more)
	return answer, s.Call(ctx, "POST", "/act", body, &answer)
}

func postBatch(ctx context.Context, s *controlSuite) error {
	answer, err := runBatch(ctx, s, "/form", nil,
		map[string]any{"kind": "type", "selector": "#name", "text": "Bea"},
		map[string]any{"kind": "batch", "actions": []any{map[string]any{"kind": "click", "selector": "#save"}}})
	if err != nil {
		return err
	}
	if len(answer.Results) != 2 || !answer.Results[0].OK || !answer.Results[1].OK {
		return fmt.Errorf("results: %+v", answer)
	}
	return nil
}

func failingBatch() map[string]any {
	return map[string]any{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}
}

func batchStops(ctx context.Context, s *controlSuite) error {
	answer, err := runBatch(ctx, s, "/form", nil, map[string]any{"kind": "click", "selector": "#save"}, failingBatch(), map[string]any{"kind": "press", "key": "a"})
	if err != nil {
		return err
	}
	if r := answer.Results; len(r) != 2 || !r[0].OK || r[1].OK || r[1].Error == "" {
		return fmt.Errorf("results: %+v", r)
	}
	return nil
}

func batchGoesOn(ctx context.Context, s *controlSuite) error {
	answer, err := runBatch(ctx, s, "/form", map[string]any{"stopOnError": false}, failingBatch(), map[string]any{"kind": "click", "selector": "#save"})
	if err != nil {
		return err
	}
	if r := answer.Results; len(r) != 2 || r[0].OK || !r[1].OK {
		return fmt.Errorf("results: %+v", r)
	}
	return nil
}

func batchNavigates(ctx context.Context, s *controlSuite) error {
	answer, err := runBatch(ctx, s, "/other", nil, map[string]any{"kind": "click", "selector": "a"}, map[string]any{"kind": "press", "key": "a"})
	if err != nil {
		return err
	}
	if len(answer.Results) != 1 || !answer.Results[0].Navigated || answer.Results[0].URL != s.Site.URL+"/form" {
		return fmt.Errorf("results: %+v", answer.Results)
	}
	if a := answer.Aborted; a == nil || a.Reason != "navigation" || a.AfterAction != 1 || a.Skipped != 1 {
		return fmt.Errorf("aborted: %+v", a)
	}
	return nil
}

func fillFields(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	name, err := snap.Ref("textbox", "Name")
	if err != nil {
		return err
	}
	news, err := snap.Ref("checkbox", "News")
	if err != nil {
		return err
	}
	fields := []any{
		map[string]any{"ref": name, "type": " ", "value": 12.5},
		map[string]any{"ref": news, "type": "checkbox", "value": "1"},
		map[string]any{"value": "dropped: it names no element"},
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "fill", "fields": fields}); err != nil {
		return err
	}
	var got []any
	if err := s.Evaluate(ctx, "[document.getElementById('name').value, document.getElementById('news').checked]", &got); err != nil {
		return err
	}
	return wantEqualJSON("fields", got, []any{"12.5", true})
}

func clickCoords(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	var at struct{ X, Y float64 }
	if err := s.Evaluate(ctx, "const r = document.getElementById('save').getBoundingClientRect(); return {x: r.x + 3, y: r.y + 3}", &at); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "clickCoords", "x": at.X, "y": at.Y}); err != nil {
		return err
	}
	var got string
	if err := s.Evaluate(ctx, "document.getElementById('said').textContent", &got); err != nil {
		return err
	}
	return wantEqualJSON("what the page says", got, "saved")
}

func closeKind(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "close", "targetId": t.TargetID}); err != nil {
		return err
	}
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	if findTab(all, t.TargetID) != nil {
		return fmt.Errorf("%s is still listed", t.TargetID)
	}
	return nil
}
