package page

import "context"

// Link is one link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Ref  string `json:"ref"`
}

// Text returns the readable text of the element with this ref, or, if ref is empty, of the page: its article, its main
// part or its body. If a dialog is open the error is a *[DialogError].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) { return "", ErrTabGone }

// Links lists the visible links of the main document, each address once, in document order.
func (t *Tab) Links(ctx context.Context) ([]Link, error) { return nil, ErrTabGone }
