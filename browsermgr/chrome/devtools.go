package chrome

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// askBrowser sends one command to the browser's own DevTools target, over a connection of its own, and returns the answer.
func askBrowser[R any](ctx context.Context, url string, command proto.Request) (R, error) {
	conn, err := cdp.Dial(ctx, url, cdp.Options{CallTimeout: DefaultLaunchTimeout})
	if err != nil {
		var none R
		return none, err
	}
	defer conn.Close()
	conn.Start(func(cdp.Event) {})
	return cdp.Ask[R](ctx, conn.Session("", cdp.ErrGone), command)
}

// endpointInLine finds the address in the line that Chromium writes once it listens.
func endpointInLine(line string) (url string, ok bool) {
	_, rest, found := strings.Cut(line, "DevTools listening on ")
	rest = strings.TrimSpace(rest)
	return rest, found && strings.HasPrefix(rest, "ws://") && portOf(rest) > 0
}

var errEndpointFile = errors.New("DevToolsActivePort is not complete")

// endpointInFile reads the file DevToolsActivePort: the port, and on the next line the path of the browser target.
func endpointInFile(data string) (string, error) {
	number, path, ok := strings.Cut(data, "\n")
	path = strings.TrimSpace(path)
	port, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
	if !ok || err != nil || port == 0 || !strings.HasPrefix(path, "/devtools/browser/") {
		return "", errEndpointFile
	}
	return fmt.Sprintf("ws://127.0.0.1:%d%s", port, path), nil
}

// portOf returns the port of a ws:// address, or 0.
func portOf(url string) int {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "ws://"), "/")
	_, number, ok := cutLast(host, ":")
	port, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return 0
	}
	return int(port)
}
