package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"clank/browsermgr/page/action/actiontable"
)

func storageStateCommands() []browserCommand {
	list := []browserCommand{
		{
			name: "cookies", short: "print the cookies, as JSON", options: []browserOption{tabOption},
			buildRequest: buildGet("/cookies"),
			printAnswer:  printField("cookies", "[]"),
		},
		{
			name: "cookies set", args: "<name> <value>", short: "set a cookie",
			options: []browserOption{
				{name: "url", kind: kindText, value: "url", help: "the page it is for (required, or --domain)"},
				{name: "domain", kind: kindText, value: "host", help: "the host it is for"},
				{name: "path", kind: kindText, value: "path", help: "the path it is for (/ with --domain)"},
				tabOption,
			},
			examples:     []string{"cookies set theme dark --url https://example.com"},
			buildRequest: buildCookie,
			printAnswer:  printSentence("cookie {0} is set"),
		},
		{
			name: "cookies clear", short: "remove all cookies", options: []browserOption{tabOption},
			buildRequest: buildPost("/cookies/clear"),
			printAnswer:  printSentence("the cookies are removed"),
		},
	}
	for _, kind := range []string{"local", "session"} {
		list = append(list, storageCommands(kind)...)
	}
	return list
}

func buildCookie(in *commandInput) (controlRequest, error) {
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
		return controlRequest{}, usagef("--url or --domain is needed: the page or the host that the cookie is for")
	}
	return in.postRequest("/cookies/set", map[string]any{"cookie": cookie}), nil
}

func storageCommands(kind string) []browserCommand {
	path, name := "/storage/"+kind, "storage "+kind
	return []browserCommand{
		{
			name: name + " get", args: "[key]", short: "print the " + kind + " storage of a page, as JSON",
			options: []browserOption{tabOption},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				if len(in.args) > 0 {
					return in.getRequest(path, "key", in.arg(0)), nil
				}
				return in.getRequest(path), nil
			},
			printAnswer: printField("values", "{}"),
		},
		{
			name: name + " set", args: "<key> <value>", short: "set a value", options: []browserOption{tabOption},
			buildRequest: buildPost(path+"/set", "key", "value"),
			printAnswer:  printSentence("{0} is set"),
		},
		{
			name: name + " clear", short: "delete all values", options: []browserOption{tabOption},
			buildRequest: buildPost(path + "/clear"),
			printAnswer:  printSentence("the " + kind + " storage is empty"),
		},
	}
}

func emulationCommands() []browserCommand {
	cancel := browserOption{name: "clear", help: "reset it"}
	viewport := actionCommand(actiontable.KindResize)
	viewport.name = "set viewport"
	return []browserCommand{
		viewport,
		{
			name: "set offline", args: "<on|off>", short: "turn the network of the pages off or on",
			options: []browserOption{tabOption}, choices: []string{"on", "off"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				offline, known := map[string]bool{"on": true, "true": true, "off": false, "false": false}[in.arg(0)]
				if !known {
					return controlRequest{}, usagef("offline is on or off, not %q", in.arg(0))
				}
				return in.postRequest("/set/offline", map[string]any{"offline": offline}), nil
			},
			printAnswer: printSentence("offline: {0}"),
		},
		{
			name: "set headers", args: "[json]", short: "send these headers with every request",
			options: []browserOption{{
				name: "headers-json", kind: kindText, value: "json",
				help: "the headers as an object",
			}, originOption, tabOption},
			examples: []string{
				`set headers '{"X-Test":"1"}'`,
				`set headers '{"Authorization":"Bearer x"}' --origin https://example.com`,
			},
			buildRequest: buildHeaders, printAnswer: printHeaders,
		},
		{
			name: "set credentials", args: "[user] [password]", short: "set the name and password for HTTP " +
				"authentication", options: []browserOption{originOption, cancel, tabOption},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				return in.setOrClearRequest("/set/credentials", "username and password",
					map[string]any{"username": in.arg(0), "password": in.arg(1)})
			},
			printAnswer: printByFlag("clear", "the credentials are forgotten", "the credentials are set for {origin}"),
		},
		{
			name: "set geo", args: "[latitude] [longitude]", short: "set the location that pages see",
			options: []browserOption{
				{name: "accuracy", kind: kindDecimal, value: "meters", help: "accuracy of the location", field: "accuracy"},
				{name: "origin", kind: kindText, value: "origin", help: "the site that may read it", field: "origin"},
				cancel, tabOption,
			},
			examples:     []string{"set geo 48.2 16.37 --origin https://example.com", "set geo -33.87 151.2", "set geo --clear"},
			buildRequest: buildGeo, printAnswer: printByFlag("clear", "the place is the real one again", "the place is set"),
		},
		choiceCommand("media", "colorScheme", "<scheme>", "set the colour scheme that pages see: dark, light, no-preference "+
			"or none", "dark", "light", "no-preference", "none"),
		choiceCommand("timezone", "timezoneId", "<zone>", "set the time zone of a page, such as Europe/Vienna"),
		choiceCommand("locale", "locale", "<locale>", "set the language and region of a page, such as de-AT"),
		choiceCommand("device", "name", "<name>", `emulate a device, such as "iPhone 14"`),
		{
			name: "permissions grant", args: "<origin> <permission> […]", short: "grant a site permissions",
			options: []browserOption{{name: "optional", kind: kindList, value: "a,b", help: "further permissions, which this " +
				"browser need not know", field: "optionalPermissions"}, tabOption, timeoutOption},
			examples: []string{"permissions grant https://example.com audioCapture videoCapture"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				return in.postRequest("/permissions/grant", map[string]any{"origin": in.arg(0), "permissions": in.args[1:]}), nil
			},
			printAnswer: printTyped(printGrant),
		},
	}
}

// choiceCommand returns a command that sets one value.
func choiceCommand(name, field, args, short string, choices ...string) browserCommand {
	return browserCommand{
		name: "set " + name, args: args, short: short, options: []browserOption{tabOption}, choices: choices,
		buildRequest: func(in *commandInput) (controlRequest, error) {
			if choices != nil && !slices.Contains(choices, in.arg(0)) {
				return controlRequest{}, usagef("%s is one of %s, not %q", args, strings.Join(choices, ", "), in.arg(0))
			}
			return in.postRequest("/set/"+name, map[string]any{field: in.arg(0)}), nil
		},
		printAnswer: printSentence(name + ": {0}"),
	}
}

// setOrClearRequest returns the request for a setting that is either cleared or set with two arguments.
func (in *commandInput) setOrClearRequest(path, what string, fields map[string]any) (controlRequest, error) {
	switch {
	case in.isOn("clear") && len(in.args) > 0:
		return controlRequest{}, usagef("--clear takes no %s", what)
	case in.isOn("clear"):
		return in.postRequest(path, map[string]any{"clear": true}), nil
	case len(in.args) < 2:
		return controlRequest{}, usagef("give %s, or --clear", what)
	}
	return in.postRequest(path, fields), nil
}

// printByFlag returns a function that prints one of two sentences, depending on a flag.
func printByFlag(flag, on, off string) func(*outputPrinter, *commandInput, []byte) error {
	return func(p *outputPrinter, in *commandInput, raw []byte) error {
		if in.isOn(flag) {
			return printSentence(on)(p, in, raw)
		}
		return printSentence(off)(p, in, raw)
	}
}

func printHeaders(p *outputPrinter, in *commandInput, raw []byte) error {
	answer, err := decodeAnswer[struct{ Warning string }](raw)
	if answer.Warning != "" {
		p.Line("%s", cleanLine(answer.Warning))
	}
	return errors.Join(err, printSentence("the headers are set")(p, in, raw))
}

func buildHeaders(in *commandInput) (controlRequest, error) {
	given := in.text("headers-json")
	if in.arg(0) != "" {
		if given != "" {
			return controlRequest{}, usagef("the headers are given twice")
		}
		given = in.arg(0)
	}
	var headers map[string]json.RawMessage
	if err := json.NewDecoder(strings.NewReader(given)).Decode(&headers); err != nil || headers == nil {
		return controlRequest{}, usagef(`the headers must be a JSON object, such as {"X-Test":"1"}`)
	}
	return in.postRequest("/set/headers", map[string]any{"headers": headers}), nil
}

func buildGeo(in *commandInput) (controlRequest, error) {
	if len(in.args) < 2 {
		return in.setOrClearRequest("/set/geolocation", "latitude and longitude", nil)
	}
	latitude, err := in.number(0, "the latitude")
	if err != nil {
		return controlRequest{}, err
	}
	longitude, err := in.number(1, "the longitude")
	if err != nil {
		return controlRequest{}, err
	}
	return in.setOrClearRequest("/set/geolocation", "latitude and longitude",
		map[string]any{"latitude": latitude, "longitude": longitude})
}

func printGrant(p *outputPrinter, a struct {
	Origin                                     string
	GrantedPermissions, UnsupportedPermissions []string
},
) {
	p.Line("%s may use: %s", cleanLine(a.Origin), cleanLine(strings.Join(a.GrantedPermissions, ", ")))
	if len(a.UnsupportedPermissions) > 0 {
		p.Line("unknown to this browser: %s", cleanLine(strings.Join(a.UnsupportedPermissions, ", ")))
	}
}
