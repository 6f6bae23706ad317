package dashboard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestConnectionsThatNobodyUsesDoNotKeepTheEnd(t *testing.T) {
	t.Parallel()
	r := start(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.server.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r.ask(http.MethodGet, "/login", "") // the one before is accepted then
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := r.server.Close(ctx); err != nil {
		t.Errorf("close the page: %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read from the unused connection: %v, want its end", err)
	}
}
