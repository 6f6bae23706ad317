package intent_test

import (
	"testing"

	"clank/browsermgr/intent"
	"clank/browsermgr/page"
)

// BenchmarkLooks is a click by itself, and with what is looked at around it where nothing has to be asked.
func BenchmarkLooks(b *testing.B) {
	tab := openTab(b, site(b, `<button onclick="n = (window.n ?? 0) + 1">Count</button>`, nil))
	click := page.Action{Kind: page.KindClick, Selector: "button"}
	act := func() error {
		_, err := tab.Act(b.Context(), click)
		return err
	}
	b.Run("click", func(b *testing.B) {
		for b.Loop() {
			if err := act(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("judged", func(b *testing.B) {
		for b.Loop() {
			j, err := intent.Of(b.Context(), tab, click)
			if err != nil {
				b.Fatal(err)
			}
			if same, err := intent.Do(b.Context(), tab, click, j.Mark, act); !same || err != nil {
				b.Fatal(same, err)
			}
		}
	})
	for name, look := range map[string]func() error{
		"judge": func() error {
			_, err := intent.Of(b.Context(), tab, click)
			return err
		},
		"hold and end": func() error {
			_, err := intent.Do(b.Context(), tab, click, "", func() error { return nil })
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := look(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
