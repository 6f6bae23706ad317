package screenshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// pdfLimit bounds printing.
const pdfLimit = 60 * time.Second

// errHiddenContent says that a page cannot be printed.
var errHiddenContent = errors.New("the page shows a secret, which cannot be covered on paper: take a screenshot, or go to another page")

// PrintPDF prints the page on A4, without margins and with its backgrounds. A page that shows what pictures must not
// show is not printed.
func PrintPDF(ctx context.Context, t *page.Tab) ([]byte, error) {
	const inch = 25.4
	width, height, none := 210/inch, 297/inch, 0.0
	var res struct {
		Data []byte `json:"data"`
	}
	err := t.RunExclusive(ctx, pdfLimit, func(ctx context.Context) error {
		if hides, err := t.HasHiddenAreas(ctx); err != nil || hides {
			return cmp.Or(err, errHiddenContent)
		}
		return t.MainFrame().BeginWithin(pdfLimit, proto.PagePrintToPDF{
			PrintBackground: true, PaperWidth: &width, PaperHeight: &height,
			MarginTop: &none, MarginBottom: &none, MarginLeft: &none, MarginRight: &none,
		}).Wait(ctx, &res)
	})
	if err == nil && len(res.Data) == 0 {
		err = errors.New("the browser made an empty file")
	}
	if err != nil {
		return nil, fmt.Errorf("print tab %s: %w", t.ID(), err)
	}
	return res.Data, nil
}

const (
	highlightLimit    = 8 * time.Second
	highlightDuration = 2 * time.Second
)

// Highlight outlines an element of a snapshot for two seconds, scrolled into view, and returns at once. It is an
// animation: no attribute of the page changes, and it ends by itself.
func Highlight(ctx context.Context, t *page.Tab, ref string) error {
	if ref == "" {
		return fault.Invalidf("ref is required")
	}
	err := t.RunExclusive(ctx, highlightLimit, func(ctx context.Context) error {
		e, at, err := findElement(t, ref, "")
		if err != nil {
			return err
		}
		ok, err := runMeasureScript[bool](ctx, e.Frame, []frame.Locator{at}, scriptArgument{Do: "highlight", Ms: int(highlightDuration.Milliseconds())})
		if err != nil {
			return e.Explain(err)
		}
		if !ok {
			return explainMissing(ctx, e, at)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("highlight in tab %s: %w", t.ID(), err)
	}
	return nil
}
