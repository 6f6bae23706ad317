package browsercli

import (
	"encoding/json"
	"strings"

	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func cookieCommands() []command {
	list := []command{
		{
			name: "cookies", short: "the cookies, as JSON", options: []option{onTab},
			build: func(in *input) (request, error) { return in.get("/cookies"), nil },
			show:  showingField("cookies", "[]"),
		},
		{
			name: "cookies set", args: "<name> <value>", short: "set a cookie",
			options: []option{
				{name: "url", kind: text, value: "url", help: "the page it is for (needed, or --domain)"},
				{name: "domain", kind: text, value: "host", help: "the host it is for"},
				{name: "path", kind: text, value: "path", help: "the path it is for (/ with --domain)"},
				onTab,
			},
			examples: []string{"cookies set theme dark --url https://example.com"},
			build:    buildCookie,
			show:     argLine("cookie %s is set"),
		},
		{
			name: "cookies clear", short: "remove all cookies", options: []option{onTab},
			build: func(in *input) (request, error) { return in.post("/cookies/clear", nil), nil },
			show:  sentence("the cookies are removed"),
		},
	}
	for _, kind := range []string{"local", "session"} {
		list = append(list, storageCommands(kind)...)
	}
	return list
}

func buildCookie(in *input) (request, error) {
	cookie := map[string]any{"name": in.arg(0), "value": in.arg(1)}
	if in.has("domain") {
		cookie["path"] = "/"
	}
	for _, name := range []string{"url", "domain", "path"} {
		if in.has(name) {
			cookie[name] = in.text(name)
		}
	}
	if !in.has("url") && !in.has("domain") {
		return request{}, cmdline.Usagef("--url is needed: the page the cookie is for")
	}
	return in.post("/cookies/set", map[string]any{"cookie": cookie}), nil
}

func storageCommands(kind string) []command {
	path, name := "/storage/"+kind, "storage "+kind
	return []command{
		{
			name: name + " get", args: "[key]", short: "what a page keeps in its " + kind + " storage, as JSON", options: []option{onTab},
			build: func(in *input) (request, error) {
				if len(in.args) > 0 {
					return in.get(path, "key", in.arg(0)), nil
				}
				return in.get(path), nil
			},
			show: showingField("values", "{}"),
		},
		{
			name: name + " set", args: "<key> <value>", short: "put a value there", options: []option{onTab},
			build: func(in *input) (request, error) {
				return in.post(path+"/set", map[string]any{"key": in.arg(0), "value": in.arg(1)}), nil
			},
			show: argLine("%s is set"),
		},
		{
			name: name + " clear", short: "empty it", options: []option{onTab},
			build: func(in *input) (request, error) { return in.post(path+"/clear", nil), nil },
			show:  sentence("the " + kind + " storage is empty"),
		},
	}
}

func setCommands() []command {
	cancel := option{name: "clear", help: "as it was"}
	return []command{
		{
			name: "set viewport", args: "<width> <height>", short: "the size of what is in view", options: []option{onTab},
			build: buildResize, show: acted("resized to %sx%s"),
		},
		{
			name: "set offline", args: "<on|off>", short: "cut the pages off from the network", options: []option{onTab}, choices: []string{"on", "off"},
			build: func(in *input) (request, error) {
				offline, known := map[string]bool{"on": true, "true": true, "off": false, "false": false}[in.arg(0)]
				if !known {
					return request{}, cmdline.Usagef("offline is on or off, not %q", in.arg(0))
				}
				return in.post("/set/offline", map[string]any{"offline": offline}), nil
			},
			show: argLine("offline: %s"),
		},
		{
			name: "set headers", args: "[json]", short: "send these headers with every request",
			options:  []option{{name: "headers-json", kind: text, value: "json", help: "the headers as an object"}, onTab},
			examples: []string{`set headers '{"X-Test":"1"}'`},
			build:    buildHeaders, show: sentence("the headers are set"),
		},
		{
			name: "set credentials", args: "[user] [password]", short: "answer when a site asks for a name and a password", options: []option{cancel, onTab},
			build: func(in *input) (request, error) {
				return in.given("/set/credentials", "username and password", map[string]any{"username": in.arg(0), "password": in.arg(1)})
			},
			show: settled("the credentials are set", "the credentials are forgotten"),
		},
		{
			name: "set geo", args: "[latitude] [longitude]", short: "where the browser believes to be",
			options: []option{
				{name: "accuracy", kind: decimal, value: "meters", help: "how exactly it knows", field: "accuracy"},
				{name: "origin", kind: text, value: "origin", help: "the site that may ask for it", field: "origin"},
				cancel, onTab,
			},
			examples: []string{"set geo 48.2 16.37 --origin https://example.com", "set geo -33.87 151.2", "set geo --clear"},
			build:    buildGeo, show: settled("the place is set", "the place is the real one again"),
		},
		choose("media", "colorScheme", "<scheme>", "the colour scheme that pages see", "dark", "light", "no-preference", "none"),
		choose("timezone", "timezoneId", "<zone>", "the time zone of a page, such as Europe/Vienna"),
		choose("locale", "locale", "<locale>", "the language and region of a page, such as de-AT"),
		choose("device", "name", "<name>", `behave as this device, such as "iPhone 14"`),
		{
			name: "permissions grant", args: "<origin> <permission> […]", short: "let a site use what it would have to ask for",
			options:  []option{{name: "optional", kind: list, value: "a,b", help: "permissions that may be unknown to this browser", field: "optionalPermissions"}, onTab, limit},
			examples: []string{"permissions grant https://example.com audioCapture videoCapture"},
			build: func(in *input) (request, error) {
				return in.post("/permissions/grant", map[string]any{"origin": in.arg(0), "permissions": in.args[1:]}), nil
			},
			show: showing(showGrant),
		},
	}
}

// choose is a setting with one value.
func choose(name, field, args, short string, choices ...string) command {
	return command{
		name: "set " + name, args: args, short: short, options: []option{onTab}, choices: choices,
		build: func(in *input) (request, error) {
			return in.post("/set/"+name, map[string]any{field: in.arg(0)}), nil
		},
		show: argLine(name + ": %s"),
	}
}

// given asks for a setting that is either cleared or has two arguments.
func (in *input) given(path, what string, fields map[string]any) (request, error) {
	switch {
	case in.on("clear") && len(in.args) > 0:
		return request{}, cmdline.Usagef("--clear takes no %s", what)
	case in.on("clear"):
		return in.post(path, map[string]any{"clear": true}), nil
	case len(in.args) < 2:
		return request{}, cmdline.Usagef("give %s, or --clear", what)
	}
	return in.post(path, fields), nil
}

// settled makes a show that prints one of two sentences.
func settled(set, cleared string) func(*show.Printer, *input, []byte) error {
	return func(p *show.Printer, in *input, _ []byte) error {
		if in.on("clear") {
			p.Line("%s", cleared)
		} else {
			p.Line("%s", set)
		}
		return nil
	}
}

func buildHeaders(in *input) (request, error) {
	given := in.text("headers-json")
	if in.arg(0) != "" {
		if given != "" {
			return request{}, cmdline.Usagef("the headers are given twice")
		}
		given = in.arg(0)
	}
	var headers map[string]json.RawMessage
	if err := json.NewDecoder(strings.NewReader(given)).Decode(&headers); err != nil || headers == nil {
		return request{}, cmdline.Usagef(`the headers must be a JSON object, such as {"X-Test":"1"}`)
	}
	return in.post("/set/headers", map[string]any{"headers": headers}), nil
}

func buildGeo(in *input) (request, error) {
	if len(in.args) < 2 {
		return in.given("/set/geolocation", "latitude and longitude", nil)
	}
	latitude, err := in.number(0, "the latitude")
	if err != nil {
		return request{}, err
	}
	longitude, err := in.number(1, "the longitude")
	if err != nil {
		return request{}, err
	}
	return in.given("/set/geolocation", "latitude and longitude", map[string]any{"latitude": latitude, "longitude": longitude})
}

func showGrant(p *show.Printer, a struct {
	Origin                                     string
	GrantedPermissions, UnsupportedPermissions []string
},
) {
	p.Line("%s may use: %s", show.Word(a.Origin), show.Word(strings.Join(a.GrantedPermissions, ", ")))
	if len(a.UnsupportedPermissions) > 0 {
		p.Line("unknown to this browser: %s", show.Word(strings.Join(a.UnsupportedPermissions, ", ")))
	}
}
