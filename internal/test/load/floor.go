package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"
)

// RodLoops runs the loop in n tabs of the browser with rod alone, for a duration, and returns the number of loops. It
// reads the page as HTML, which is the cheapest way.
func RodLoops(ctx context.Context, devTools, site string, n int, d time.Duration) (int, error) {
	b := rod.New().ControlURL(devTools).NoDefaultDevice().Context(ctx)
	if err := b.Connect(); err != nil {
		return 0, fmt.Errorf("rod: %w", err)
	}
	var pages rod.Pages
	defer func() {
		for _, p := range pages {
			_ = p.Close() // or the browser has ended
		}
	}()
	for range n {
		p, err := b.Page(proto.TargetCreateTarget{})
		if err != nil {
			return 0, fmt.Errorf("rod: %w", err)
		}
		pages = append(pages, p)
		// as in clank, so that all tabs are rendered
		if err := (proto.EmulationSetFocusEmulationEnabled{Enabled: true}).Call(p); err != nil {
			return 0, fmt.Errorf("rod: %w", err)
		}
	}
	var done atomic.Int64
	errs := make([]error, n)
	var people sync.WaitGroup
	until := time.Now().Add(d)
	for k, p := range pages {
		people.Go(func() {
			for i := 0; errs[k] == nil; i++ {
				if errs[k] = rodLoop(p, site, fmt.Sprintf("rod-%d-%d", k, i)); time.Now().After(until) {
					return
				}
				done.Add(1)
			}
		})
	}
	people.Wait()
	return int(done.Load()), errors.Join(errs...)
}

func rodLoop(p *rod.Page, site, name string) error {
	if err := p.Navigate(site + "/form?" + name); err != nil {
		return fmt.Errorf("rod: navigate: %w", err)
	}
	if err := p.WaitLoad(); err != nil {
		return fmt.Errorf("rod: load: %w", err)
	}
	if _, err := p.HTML(); err != nil {
		return fmt.Errorf("rod: read: %w", err)
	}
	field, err := p.Element("#name")
	if err != nil {
		return fmt.Errorf("rod: find the field: %w", err)
	}
	if err := field.Input(name); err != nil {
		return fmt.Errorf("rod: type: %w", err)
	}
	button, err := p.Element("button")
	if err != nil {
		return fmt.Errorf("rod: find the button: %w", err)
	}
	if err := button.Click(proto.InputMouseButtonLeft, 1); err != nil {
		return fmt.Errorf("rod: click: %w", err)
	}
	html, err := p.HTML()
	if err == nil && !strings.Contains(html, "saved "+name) {
		err = errors.New("the page does not say that it saved")
	}
	if err != nil {
		return fmt.Errorf("rod: read: %w", err)
	}
	return nil
}
