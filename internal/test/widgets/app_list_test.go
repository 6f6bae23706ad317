package widgets_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/npm"
)

// appCache returns where scripts/ensure-apps puts applications.
func appCache(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../.cache/apps")
	check.Must(t, err)
	return dir
}

// installNodeRED returns the folder that has it. The test is skipped if npm cannot get it.
func installNodeRED(t *testing.T, cache string) string {
	t.Helper()
	dir := filepath.Join(cache, "node-red-"+nodeRED)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir
	}
	if err := npm.Install(t.Context(), dir, "node-red@"+nodeRED); err != nil {
		t.Skipf("apps: skipped: node-red could not be had: %v", err)
	}
	check.Must(t, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600))
	return dir
}

const nodeRED = "4.1.15" // the last that Node.js 20 runs

var applications = []application{
	{
		name:  "node-red",
		set:   `echo "module.exports = {uiHost: '127.0.0.1', telemetry: {enabled: false}}" >settings.js`,
		start: `node "$ROOT/node_modules/node-red/red.js" --userDir "$DIR" --port "$PORT"`,
		upload: map[string]string{"flow.json": `[{"id":"a1","type":"tab","label":"Imported"},
			{"id":"a2","type":"comment","z":"a1","name":"From a file","x":100,"y":100,"wires":[]}]`},
		tasks: []appTask{
			{"drag a node onto the canvas and deploy", `
				open /
				see Welcome to Node-RED
				press Escape
				drag generic "inject" -> generic "" after "Flow 1"
				click link "Deploy"
				see Successfully deployed`, wantPage("/flows", `"type":"inject"`)},
			{"wire two nodes", `
				click group ""
				press Shift+ArrowUp 5
				drag generic "debug" -> generic "" after "Flow 1"
				drag generic "" after "text: timestamp" -> generic "" after "text: debug 1"
				click link "Deploy"
				see Successfully deployed`, wantPage("/flows", `"type":"debug"`, `"wires":[["`)},
			{"import a flow from a file", `
				press Control+i
				upload button "" after "Import nodes" = flow.json
				click button "Import"
				see link "Imported"
				click link "Deploy"
				see Successfully deployed`, wantPage("/flows", `"label":"Imported"`, `"name":"From a file"`)},
			{"download all flows", `
				press Control+e
				click link "all flows"
				download button "Download"`, wantSaved(`"type":"inject"`, `"name":"From a file"`)},
			{"name a node", `
				press Escape
				click link "Flow 1"
				dblclick group ""
				type textbox "Name" = Shown
				click button "Done"
				click link "Deploy"
				see Successfully deployed`, wantPage("/flows", `"name":"Shown"`)},
		},
	},
	{
		name: "mediawiki", needs: "usr/share/mediawiki/index.php",
		set: `mkdir web conf && ln -s "$ROOT"/usr/share/mediawiki/* web/
			rm web/images web/LocalSettings.php web/config web/extensions web/mw-config
			mkdir web/images && ln -s "$ROOT/usr/share/mediawiki/extensions-core" web/extensions
			MW_INSTALL_PATH=$DIR/web php web/maintenance/install.php --confpath conf --dbtype sqlite --dbpath "$DIR/data" \
				--scriptpath "" --server "http://127.0.0.1:$PORT" --pass corr3ct-horse-9 Wiki Admin
			echo '$wgEnableUploads = true; wfLoadExtension("WikiEditor");' >>conf/LocalSettings.php`,
		start:  `env MW_INSTALL_PATH="$DIR/web" MW_CONFIG_FILE="$DIR/conf/LocalSettings.php" php -S "127.0.0.1:$PORT" -t web`,
		upload: map[string]string{"dot.png": picture},
		tasks: []appTask{
			{"log in", `
				open /index.php?title=Main_Page
				click link "Log in"
				type textbox "Username" = Admin
				type textbox "Password" = corr3ct-horse-9
				click button "Log in"
				see "Log out"`, nil},
			{"create a page", `
				open /index.php?title=Refs
				click link "Create"
				type textbox after "Creating" = A ''ref'' names an element.
				click button "Save page"
				see names an element`, wantPage("/index.php?title=Refs&action=raw", "A ''ref'' names an element.")},
			{"edit a page", `
				open /index.php?title=Main_Page
				click link "Edit"
				type textbox after "Editing" = Now it says '''this'''.
				type textbox "Summary:" = By its refs
				click checkbox "This is a minor edit"
				click button "Save changes"
				see Now it says`, wantPage("/api.php?action=query&titles=Main_Page&prop=revisions&rvprop=content|comment|flags&format=json",
				"Now it says '''this'''.", `"comment":"By its refs"`, `"minor":""`)},
			{"upload a file", `
				open /index.php?title=Special:Upload
				upload button "Source filename:" = dot.png
				type textbox "Destination filename:" = Uploaded.png
				click button "Upload file"
				see File:Uploaded.png`, wantFile("web/images/*/*/Uploaded.png", picture)},
			{"download a file", `
				open /index.php?title=Special:Export
				type textbox "Add pages manually:" = Refs
				download button "Export"`, wantSaved("<mediawiki", "names an element")},
			{"log out", `
				open /index.php?title=Main_Page
				click link "Log out"
				see You are now logged out`, nil},
		},
	},
	{
		name: "shaarli", needs: "usr/share/shaarli/index.php",
		set: `cp -r "$ROOT/usr/share/shaarli" web && rm -f web/cache
			mkdir -p state/data state/tmp state/cache state/pagecache
			grep -rlE "/usr/share/shaarli|/var/(lib|cache)/shaarli" web --include='*.php' |
				xargs sed -i -E "s#/usr/share/shaarli#$DIR/web#; s#/var/(lib|cache)/shaarli#$DIR/state#"`,
		start:  `php -d include_path="$ROOT/usr/share/php" -d display_errors=0 -d log_errors=0 -S "127.0.0.1:$PORT" -t web`,
		upload: map[string]string{"import.html": bookmarks},
		tasks: []appTask{
			{"set it up", `
				open /
				type textbox "Username" = ada
				type textbox "Password" = corr3ct-horse-9
				type textbox "Shaarli title" = Bookmarks of Ada
				select combobox "Language" = English
				click checkbox "Check updates Notify me when a new release is ready"
				click button "Install"
				see "Login"`, wantFile("state/data/config.json.php", `"title": "Bookmarks of Ada"`)},
			{"log in", `
				open /login
				type textbox "Username" = ada
				type textbox "Password" = corr3ct-horse-9
				click button "Login"
				see Logout`, nil},
			{"create a bookmark", `
				open /
				click link "Shaare"
				type textbox "URL or leave empty to post a note" = http://127.0.0.1/kept
				click button "Add link"
				type textbox "Title" = Kept by its refs
				type textbox "Description" = First try
				click button "Save"
				see Kept by its refs`, wantStore("Kept by its refs", "First try")},
			{"edit a bookmark", `
				open /
				click link "Edit" after "Kept by its refs"
				type textbox "Description" = Second try
				click checkbox "Private"
				click button "Apply Changes"
				see Second try`, wantStore("Second try", `private";b:1`)},
			{"export bookmarks", `
				open /admin/export
				download button "Export" after "Export Database"`, wantSaved("NETSCAPE-Bookmark-file-1", "Kept by its refs")},
			{"import bookmarks", `
				open /admin/import
				upload button "" after "Import Database" = import.html
				click button "Import"
				see imported`, wantStore("http://127.0.0.1/imported")},
			{"delete a bookmark, which asks", `
				open /
				click link "Delete" after "Kept by its refs"
				accept
				see 4 shaares`, wantStore("!Kept by its refs")},
		},
	},
	{
		name: "hledger-web", needs: "usr/bin/hledger-web",
		set:    `echo "2026-01-01 open | assets:bank  100 EUR | equity" | tr '|' '\n' >main.journal`,
		start:  `"$ROOT/usr/bin/hledger-web" -f main.journal --serve --port "$PORT" --capabilities view,add,manage`,
		upload: map[string]string{"other.journal": "2026-02-01 uploaded\n  assets:bank  5 EUR\n  income:gift\n"},
		tasks: []appTask{
			{"a double entry in a dialog", `
				open /
				click button "Add a transaction"
				type textbox "Date" = 2026-01-15
				type textbox "Description" = coffee
				type textbox "Account 1" = expenses:food
				type textbox "Amount 1" = 3 EUR
				type textbox "Account 2" = assets:bank
				click button "add"
				see expenses:food`, wantFile("main.journal", "2026-01-15 coffee", "expenses:food", "3 EUR", "assets:bank")},
			{"download the journal", `
				open /manage
				download link "Download"`, wantSaved("2026-01-15 coffee")},
			{"edit the journal", `
				open /manage
				click link "Edit"
				type textbox "" after "Are you sure" = 2026-03-01 rent\n  expenses:rent  7 EUR\n  assets:bank
				click button "Save"
				see expenses:rent`, wantFile("main.journal", "2026-03-01 rent\n  expenses:rent  7 EUR\n  assets:bank")},
			{"upload a journal", `
				open /manage
				click link "Upload"
				upload button "Select file" = other.journal
				click button "Upload"
				see income:gift`, wantFile("main.journal", "2026-02-01 uploaded")},
		},
	},
	{
		name: "transmission", needs: "usr/bin/transmission-daemon",
		set: `mkdir done && echo '{"bind-address-ipv4": "127.0.0.1", "rpc-bind-address": "127.0.0.1", "dht-enabled": false,
			"lpd-enabled": false, "pex-enabled": false, "utp-enabled": false, "port-forwarding-enabled": false,
			"start-added-torrents": false}' >settings.json`,
		start: `env LD_LIBRARY_PATH="$ROOT/usr/lib/x86_64-linux-gnu" TRANSMISSION_WEB_HOME="$ROOT/usr/share/transmission/web" \
			"$ROOT/usr/bin/transmission-daemon" -f -g "$DIR" -w "$DIR/done" -p "$PORT" -P 51413`,
		upload: map[string]string{"notes.torrent": torrent},
		tasks: []appTask{
			{"upload a torrent", `
				open /transmission/web/
				click generic "Open Torrent"
				upload button "Please select a torrent file to upload:" = notes.torrent
				click link "Upload"
				see notes.txt`, wantFile("torrents/*.torrent", "notes.txt")},
			{"add a magnet link", `
				click generic "Open Torrent"
				type textbox "Or enter a URL:" = magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&dn=Magnetic
				click link "Upload"
				see Magnetic`, wantFile("torrents/0123456789abcdef*", "Magnetic")},
			{"remove one, with a question", `
				click listitem "notes.txt"
				click generic "Remove Selected Torrents"
				click link "Remove"
				see 1 Transfer`, wantNoFile("torrents/06c20a56*")},
		},
	},
}

// picture is a PNG of one pixel.
var picture = func() string {
	var b strings.Builder
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return b.String()
}()

const bookmarks = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE>
<DL><p>
<DT><A HREF="http://127.0.0.1/imported" ADD_DATE="1700000000">Imported</A>
</DL><p>`

// torrent offers notes.txt without saying who has it.
const torrent = "d4:infod6:lengthi5e4:name9:notes.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee"

// wantStore checks that the bookmarks of Shaarli contain texts.
func wantStore(want ...string) func(*policy) error {
	return func(p *policy) error {
		data, err := os.ReadFile(filepath.Join(p.home, "state/data/datastore.php"))
		if err != nil {
			return err
		}
		data, err = base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(string(data), "<?php /* "),
			" */ ?>"))
		if err != nil {
			return err
		}
		data, err = io.ReadAll(flate.NewReader(bytes.NewReader(data)))
		if err != nil {
			return err
		}
		return contains(string(data), want)
	}
}
