package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

// sendBrowserCommand sends one command without parameters to the browser's own DevTools target, over a connection of its own, and
// decodes what it returns into result, unless that is nil.
func sendBrowserCommand(ctx context.Context, url, method string, result any) error {
	ws, resp, err := websocket.Dial(ctx, url, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return fmt.Errorf("connect to the browser: %w", err)
	}
	defer func() { _ = ws.CloseNow() }()
	const id = 1
	request := fmt.Sprintf(`{"id":%d,"method":%q}`, id, method)
	if err := ws.Write(ctx, websocket.MessageText, []byte(request)); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			return fmt.Errorf("wait for the answer to %s: %w", method, err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			return fmt.Errorf("decode the answer to %s: %w", method, err)
		}
		switch {
		case answer.ID != id:
		case answer.Error != nil:
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, result)
		}
	}
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
