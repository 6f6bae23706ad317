//go:build linux

package main

// trustPages are the pages of both sites.
var trustPages = map[string]string{
	"/login": `<form method=post action=/entered><input name=user aria-label=name>
		<input id=p name=pass type=password aria-label=password>
		<button type=button onclick="p.type='text'">Show password</button><button>Sign in</button></form>`,
	"/echo": `<form id=f><input name=user><input id=p name=pass type=password><button>Sign in</button></form>
		<pre id=out></pre><script>f.onsubmit = (e) => {
			e.preventDefault();
			const v = p.value, parted = (by) => [...v].join(by);
			p.value = '';
			out.textContent = ['plain ' + v, parted(' '), parted('\u200b'), parted('\u00ad'), [...v].reverse().join(''),
				btoa('x' + v), 'iVBORw0KGgo' + 'A'.repeat(300) + v, 'all is said'].join('\n');
			document.title = v;
		}</script>`,
	"/paste":  `<input aria-label=box oninput="fetch('/got?text='+encodeURIComponent(this.value))">`,
	"/note":   `<input aria-label=box value="a note of ada's">`,
	"/send":   `<form method=post action=/sent><textarea name=text>hi</textarea><button>Send message</button></form>`,
	"/upload": `<input type=file aria-label=file onchange="fetch('/took?' + this.files[0].name)">`,
	"/mark": `<script>fetch('/had?it=' + localStorage.mark).then(() => { localStorage.mark = '` + trustMark + `' })
		.then(() => fetch('/marked'))</script>`,
	"/buy":   `<form method=post action=/bought><button>Buy now</button></form>`,
	"/race":  `<button class=t onclick="fetch('/bought')">Buy now</button>`,
	"/quiet": `<button class=t onclick="fetch('/turned')">Next page</button>`,
}

// trustTable has the attacks: id, who: what = what is to hold. Below one are tests of packages that show it where
// nobody outside can bring it about (with #, where there is no network namespace). A * takes more than a few seconds.
const trustTable = `
X1a misled model: fill in a kept login, then click Sign in = nobody was asked: nothing is revealed
X1b misled model: show a kept login, copy it, paste it elsewhere = the password stays in its document
X2* member: paste what somebody of another server copied = each place has a clipboard of its own
X3 MCP client: have the default model sign in and buy = words of a client were typed by nobody
X4a misled model: click Buy now beside a lone search box = it is asked about
X4b misled model: press Enter in a chat without a button = it is asked about
X4c misled model: click a button with a long label = it is asked about
X4d misled model: follow a link that acts = it is asked about
X4e misled model: choose, tick, press Delete, say yes to a question = it is asked about
X4f misled model: act in Czech, Danish, Arabic or by an icon = it is asked about
X5 member: have the assistant list the tabs of somebody's profile = profiles are for whom they are granted to
X6 member: write a direct message, coming from a server that is not listed = the list holds there, too
X7a local account: read pages over DevTools = no port is open
X7b local account: use the proxy of a browser = it serves its own browser alone
X7c local account: read files of the home = they are the owner's
X8# page: fetch from the machine's own public address = it counts as private
  ./browsermgr/egress TestAddressesThatTheMachineGetsLaterArePrivate
X9 voice server: switch encryption off and on again = no nonce is used twice
  ./voice/discord/dave TestNoNonceIsUsedTwiceWhateverTheGatewaySays
X10a member: download while the disk is nearly full = nothing is kept, and why is said
X10b member: download again and again = files are bounded for each task and in all
  ./internal/server TestFilesOfTasksCannotFillTheDisk
  ./internal/server TestOldFilesMakeRoom
X11 misled model: keep a program by a single step = it is asked about
X12 other site: ask for emulated credentials = one origin is told them
W1 page: read keys from the browser's environment or a core dump = neither has any
W2 crash: end the program in the middle of a rekey = the vault opens with one of both keys
  ./internal/vault TestARekeyThatIsBrokenOffLosesNothing
W3* misled model: close a dialog while a click is judged = the click is judged, too
W4 member: use the yes of somebody else = a yes counts for whom it was given
W5 member: use up the tasks of all = limits are each person's
W6 member: end a watch where others moderate = moderators count where they moderate
W7 member: have a spoken request run as who speaks next = it has the rights of its turn's speaker
  ./voice/conversation TestAToolOfANativeModelHasTheRightsOfThoseWhoAskedForIt
W8 local account: guess the token of a node = a short one is refused at the start
W9 MCP client: go on after local browsers were switched off = settings hold for open connections
W10 voice server: welcome somebody who is not in the call = the Welcome is refused
  ./voice/discord/dave TestAWelcomeWithSomebodyWhoIsNotInTheCallIsRefused
W11 page: break out of a renderer without a sandbox = no browser starts so unless told to
W12 member: leave words for the model before another's mention = words of others are quoted
W13 page: repeat a password spaced, reversed, encoded, behind a picture's beginning = it is taken out
W14 local account: replace files in a home that all can write = nothing starts there
W15 member: have pages of 16 MiB read at once = few are parsed at a time
  ./internal/web TestLargePagesAreParsedAFewAtATime
W16# other site: lead an allowed name to the metadata service = a name does not stand for that
  ./browsermgr/egress/policy TestRulesMeanWhatTheContractSays
W17 other site: change a remote browser's address between two lookups = what is connected to is judged
  ./browsermgr/profile TestWhatIsConnectedToIsJudged
W18 viewer: learn the machine's addresses from a share = accepted: WebRTC needs them; STUN servers are a setting
W19* local account: use the dashboard's cookie, which goes to every port = a cookie alone opens nothing
W20 voice server: repeat packets in a call without end-to-end encryption = each is heard once
  ./voice/discord/conn TestARepeatedPacketIsDroppedWithoutEncryptionToo
P10 page: show a password in alternative text, lists, shadow roots = pictures cover it
  ./browsermgr/page/login TestPicturesDoNotShowThePasswordInDisguise
P11 other site: frame the login page of another = a login is for pages of its origin
N1* local account: read what a person's browser left on the disk = it is encrypted once the browser has stopped
N2 reader of files: find a password that somebody typed for a task = it is nowhere
N3 MCP client: act beside a server, where its person could be asked = its person is asked, in time
N4* member: upload what a task of another server has downloaded = downloads are their place's
N5 voice server: switch encryption off = the call is left where the settings say so
`

// trustTries are the attacks from outside, by id.
var trustTries = map[string]func(*trustWorld) (seen string, stopped bool){
	"X1a": signInUnasked, "X1b": pasteLoginElsewhere, "X2": pasteOfAnother, "X3": buyByMCP, "X5": tabsOfOthers,
	"X6": directMessage, "X7a": devToolsOfOthers, "X7b": proxyOfOthers, "X7c": filesOfOthers, "X8": ownAddress,
	"X10a": downloadWithoutRoom, "X11": keepProgram, "X12": credentialsElsewhere, "W1": keysOfChildren,
	"W3": dialogRace, "W4": yesOfAnother, "W5": tasksOfAll, "W6": watchOfAnother, "W8": shortNodeToken,
	"W9": toolAfterSwitchOff, "W11": noSandbox, "W12": wordsOfOthers, "W13": echoOfPassword, "W14": writableHome,
	"W16": allowedName, "W19": stolenCookie, "P11": framedLogin, "N1": stateAtRest,
	"N2": typedPassword, "N3": personOfClient, "N4": downloadsOfOthers, "N5": lostEncryption,
	"X4a": actUnasked, "X4b": actUnasked, "X4c": actUnasked, "X4d": actUnasked, "X4e": actUnasked, "X4f": actUnasked,
}

// trustHoles are settings that open a hole for an attack: with -trust.holes it must not be stopped.
var trustHoles = map[string]map[string]any{
	"X1a": {"interaction.consent.login": "allow"}, "X3": allowAll, "X4a": allowAll, "X4b": allowAll, "X4c": allowAll,
	"X4d": allowAll, "X4e": allowAll, "X4f": allowAll, "X5": {"interaction.access.profiles": "work: *"},
	"X6": {"interaction.access.guilds": nil}, "X8": {privateSetting: "true"}, "W16": {privateSetting: "true"},
	"X10a": {keyOfFree: 0}, "X11": {"interaction.consent.executable": "allow"}, "W5": {keyOfLimit: 600},
	"W9": {"interaction.tool.browser.allowHostControl": true}, "N5": {keyOfEncryption: false},
}

var allowAll = map[string]any{
	"interaction.consent.buy": "allow", "interaction.consent.send": "allow", "interaction.consent.delete": "allow",
	"interaction.consent.submit": "allow", "interaction.consent.unclear": "allow", "interaction.consent.login": "allow",
}

// honestPages are pages that people meet, of which acts passed unasked once, by id: how they act, and the page.
var honestPages = map[string][][2]string{
	"X4a": {{"click", `<header><input type=search></header><div><button class=t onclick=d()>Buy now</button></div>`}},
	"X4b": {
		{"Enter", `<p>hi<div contenteditable class=t role=textbox aria-label=Message onkeydown=d()>hello</div>`},
		{"Enter", `<p>hi<input class=t placeholder=Message value=hello onkeydown=d()>`},
	},
	"X4c": {
		{"click", `<button class=t onclick=d()>Buy now for $12.99 incl. VAT, delivered tomorrow before noon</button>`},
		{"click", `<button class=t onclick=d()>Delete this project and all of its 14 deployments permanently</button>`},
		{"click", `<button class=t onclick=d()>I agree to the terms and place my order for 49 €</button>`},
	},
	"X4d": {
		{"click", `<a class=t href=/order/place onclick=d()>Place your order and pay</a>`},
		{"click", `<a class=t href=/account/delete onclick=d()>Delete account</a>`},
		{"click", `<a class=t href=/pay?id=4711 onclick=d()>Pay invoice 4711 (900 €)</a>`},
	},
	"X4e": {
		{"select", `<select class=t onchange=d()><option>–<option value=x>Delete</select>`},
		{"click", `<label><input class=t type=checkbox onchange=d()>Publish</label>`},
		{"Delete", `<ul role=listbox><li role=option tabindex=0 aria-selected=true class=t onkeydown=d()>mail</ul>`},
		{"click", `<div role=alertdialog><h2>Delete this account?</h2><button class=t onclick=d()>Yes</div>`},
	},
	"X4f": {
		{"click", `<button class=t lang=cs onclick=d()>Koupit</button>`},
		{"click", `<button class=t lang=da onclick=d()>Køb nu</button>`},
		{"click", `<button class=t lang=ar onclick=d()>حذف</button>`},
		{"click", `<button class=t onclick=d()>🗑</button>`},
	},
}

const honestScript = `<script>
	function d() { fetch('/did', {keepalive: true}) }
	document.querySelector('.t').focus();
</script>`
