package golive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	postTimeout   = 10 * time.Second
	maxPostAnswer = 4 << 10 // bytes that are read of an answer
)

// PreviewPoster uploads previews as one account. Its methods are safe for concurrent use.
type PreviewPoster struct {
	API        string       // where the REST API is, with its version: "https://discord.com/api/v9"
	Token      string       // of the account that streams, and of nobody else
	HTTPClient *http.Client // nil is the default client
}

// Post makes the frame, a key frame of VP8, the preview of the stream with a key. No error of it has the token in it.
func (p *PreviewPoster) Post(ctx context.Context, key string, frame []byte) error {
	picture, err := PreviewJPEG(frame)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"thumbnail": "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(picture)})
	if err != nil {
		return fmt.Errorf("write the preview: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, postTimeout, fmt.Errorf("Discord did not take it within %s", postTimeout)) //nolint:staticcheck // a name
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.API+"/streams/"+url.PathEscape(key)+"/preview", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("upload the preview: %w", err)
	}
	req.Header.Set("Authorization", p.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := cmp.Or(p.HTTPClient, http.DefaultClient).Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("upload the preview: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxPostAnswer)) // so that the connection can be used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("upload the preview: Discord answered %s", res.Status)
	}
	return nil
}
