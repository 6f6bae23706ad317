package browsertool_test

import (
	"context"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestFilesComeWithATaskAndDownloadsAreResourcesOfItsClientAlone(t *testing.T) {
	t.Parallel()
	h := open(t, &browsertool.MCPServer{Browser: &agent{}}, 0)
	defer func() { _ = h.Close() }()
	changed := make(chan bool, 10)
	mine := dial(t, h, &mcp.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			changed <- true
		},
	})
	defer func() { _ = mine.Close() }()
	other := dial(t, h, nil)
	defer func() { _ = other.Close() }()
	call(t, other, "browser_browse", map[string]any{"query": "what?"})

	r := call(t, mine, "browser_browse", map[string]any{"query": "files", "files": []any{
		map[string]any{"name": "notes.txt", "text": "hello"}, map[string]any{"name": "cv.pdf", "data": "JVBERg=="},
	}})
	said := text(r)
	check.Contains(t, said, "notes.txt hello 5", "cv.pdf %PDF 4", "1: \"say \\\"yes\\\".pdf\" (application/pdf, 4 "+
		"bytes)\n")
	if before, _, _ := strings.Cut(said, "say "); !strings.Contains(before, "UNTRUSTED_CONTENT") {
		t.Errorf("the name of a page's file is not marked: %s", said)
	}
	var links []string
	for _, c := range r.Content {
		if link, ok := c.(*mcp.ResourceLink); ok {
			links = append(links, link.URI)
			if strings.Contains(link.Name+link.Title, "yes") {
				t.Errorf("a link has the name that a page chose: %+v", link)
			}
		}
	}
	<-changed
	list, err := mine.ListResources(t.Context(), nil)
	check.Must(t, err)
	if len(links) != 4 || len(list.Resources) != 4 || list.Resources[0].URI != links[0] || list.Resources[0].Size != 4 {
		t.Fatalf("got links %q and resources %+v, want the four files", links, list.Resources)
	}
	got, err := mine.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: links[0]})
	check.Must(t, err)
	if c := got.Contents[0]; string(c.Blob) != "%PDF" || c.MIMEType != "application/pdf" {
		t.Errorf("got %+v", c)
	}
	got, err = mine.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: links[3]})
	check.Must(t, err)
	if n := len(got.Contents[0].Blob); n != 5<<20 {
		t.Errorf("got %d bytes of a larger file, want all", n)
	}
	if list, err := other.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
		t.Errorf("another client has %+v, %v", list.Resources, err)
	}
	for _, tt := range []struct {
		who  *mcp.ClientSession
		uri  string
		want string
	}{
		{mine, links[1], "not kept any more"},
		{mine, links[2], "larger than 16 MiB"},
		{mine, "clank://tasks/t1/downloads/../../x", "not found"},
		{other, links[0], "not found"},
	} {
		check.Fails(t, check.Err(tt.who.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: tt.uri})), nil, tt.want)
	}
	check.Must(t, mine.Close())
}

func TestFilesThatCannotBeTakenKeepTheTaskFromBeginning(t *testing.T) {
	t.Parallel()
	c, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}}, nil)
	file := func(more ...any) map[string]any {
		f := map[string]any{"name": "a"}
		for i := 0; i < len(more); i += 2 {
			f[more[i].(string)] = more[i+1]
		}
		return f
	}
	many := make([]any, 11)
	for i := range many {
		many[i] = file("text", "x")
	}
	for want, files := range map[string][]any{
		"data of file 1 is not base64": {file("data", "no base64!")},
		"file 2 needs text or data":    {file("text", ""), file()},
		"file 1 needs text or data":    {file("text", "x", "data", "eA==")},
		"11 files came with the task":  many,
		"file 1: it is too large":      {file("name", "huge", "text", "x")},
		"cannot be read: cannot":       {7},
	} {
		if r := call(t, c, "browser_browse", map[string]any{"query": "files", "files": files}); !r.IsError ||
			!strings.Contains(text(r), want) {
			t.Errorf("%v: got %t %s", files, r.IsError, text(r))
		}
	}
}
