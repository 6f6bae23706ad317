package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	groupShare  = "Sharing"
	shareKeys   = "interaction.share."
	turnKey     = shareKeys + "turnServers"
	turnUserKey = shareKeys + "turnUsername"
)

// Secrets of TURN servers; see [Share.TURNServers].
const (
	SecretTURN     = "TURN_SECRET"
	CredentialTURN = "TURN_CREDENTIAL"
)

// SecretDiscordClient is the OAuth2 client secret of the Discord application.
const SecretDiscordClient = "DISCORD_CLIENT_SECRET"

// Share configures how browsers are shared with others.
type Share struct {
	PublicURL    string // public URL of the viewer's page; "" means the dashboard's own address
	LinkLifetime time.Duration
	GoLive       bool
	Activity     bool
	Sound        bool
	UDPPort      int    // 0 means any
	PublicHost   string // public IP address of this machine
	STUN         string // "stun:host:port …"
	TURN         string // "turn:host:port?transport=udp …"
	TURNUser     string // user name for TURN_CREDENTIAL; with TURN_SECRET, the part after the expiry time
}

// TURNServers returns the TURN servers, provided that their credentials are set; present reports which secrets are.
// If something is missing, the error names its key and the fix.
func (s Share) TURNServers(present func(secret string) bool) ([]string, error) {
	servers := strings.Fields(s.TURN)
	if len(servers) == 0 {
		return nil, nil
	}
	shared, fixed := present(SecretTURN), present(CredentialTURN)
	switch {
	case shared && fixed:
		return nil, fmt.Errorf("%s and %s are both set: unset the second, as credentials that expire are safer", SecretTURN,
			CredentialTURN)
	case shared:
		return servers, nil
	case !fixed:
		return nil, fmt.Errorf("%s names servers that nobody may use without a secret: set %s (or %s and %s), or empty it",
			turnKey, SecretTURN, turnUserKey, CredentialTURN)
	case s.TURNUser == "":
		return nil, fmt.Errorf("%s is set without a user name: set %s, or use %s instead", CredentialTURN, turnUserKey,
			SecretTURN)
	}
	return servers, nil
}

func checkIP(v string) error {
	if _, err := netip.ParseAddr(v); v != "" && err != nil {
		return errors.New("must be an IP address, such as 203.0.113.7 or 2001:db8::7")
	}
	return nil
}

func checkSTUN(v string) error { return checkServers(v, "stun:stun.example.org:3478", "stun", "stuns") }

func checkTURN(v string) error {
	return checkServers(v, "turn:turn.example.org:3478?transport=udp", "turn", "turns")
}

// checkServers checks a space-separated list of STUN or TURN URIs (RFC 7064, RFC 7065).
func checkServers(v, example string, schemes ...string) error {
	for server := range strings.FieldsSeq(v) {
		scheme, rest, _ := strings.Cut(server, ":")
		host, query, asked := strings.Cut(rest, "?")
		if strings.Contains(host, "@") {
			return errors.New("must not hold a user name or password: those come from the environment")
		}
		u, err := url.Parse("//" + host)
		good := err == nil && slices.Contains(schemes, scheme) && u.Hostname() != "" && u.Path == "" && u.Fragment == ""
		if good && u.Port() != "" {
			port, err := strconv.ParseUint(u.Port(), 10, 16)
			good = err == nil && port > 0
		}
		transports := []string{"transport=udp", "transport=tcp"}
		if good = good && (!asked || schemes[0] == "turn" && slices.Contains(transports, query)); !good {
			return fmt.Errorf("must be addresses such as %s, separated by spaces, unlike %q", example, server)
		}
	}
	return nil
}

var shareFields = inGroup(groupShare,
	address(shareKeys+"publicUrl", "Public viewer address", "The address at which others reach a shared browser, "+
		"such as clank.example.org/watch with https in front. A reverse proxy there forwards everything below it to "+
		"clank serve --watch-addr. Leave empty for links that work on this machine only.", &at.Share.PublicURL),
	duration(shareKeys+"linkLifetimeMs", "Link lifetime", "How long a link to a shared browser works. It always ends "+
		"with the share.", 2*time.Hour, time.Minute, 24*time.Hour, &at.Share.LinkLifetime),
	toggle(shareKeys+"goLive", "Go Live on Discord", "Show shared browsers as a Go Live stream with the account of "+
		"DISCORD_GOLIVE_TOKEN. Discord does not allow this for bots and may close the account: leave this off unless "+
		"Discord has permitted it. Takes effect at the next start.", false, &at.Share.GoLive),
	toggle(shareKeys+"activity", "Discord Activity", "Open shared browsers in a window of Discord's own: /clank "+
		"share and the Live button start it. It needs DISCORD_CLIENT_SECRET and a public viewer address, and Activities "+
		"enabled in the developer portal.", false, &at.Share.Activity),
	toggle(shareKeys+"sound", "Sound of shared pages", "Play what a shared page sounds like in the call, while clank "+
		"says nothing. Works on Linux, with browsers without a window. Takes effect with the next share.", true,
		&at.Share.Sound),
	number(shareKeys+"udpPort", "Port for audio and video", "The one UDP port of the call page and the viewer page, "+
		"to open in a firewall, and the TCP port for people without UDP. 0 uses any UDP port. Takes effect at the next "+
		"start.", 0, 0, 65535, &at.Share.UDPPort),
	text(shareKeys+"publicAddress", "Public IP address", "The IP address at which others reach that port, if it is "+
		"not this machine's own. Takes effect at the next start.", "", 45, &at.Share.PublicHost).checked(checkIP),
	text(shareKeys+"stunServers", "STUN servers", "Servers that find this machine's public address, such as "+
		"stun:stun.example.org:3478, separated by spaces. Takes effect at the next start.", "", pathMaxLen,
		&at.Share.STUN).checked(checkSTUN),
	text(turnKey, "TURN servers", "Relays for people behind strict firewalls, such as "+
		"turn:turn.example.org:3478?transport=udp, separated by spaces. They need TURN_SECRET or TURN_CREDENTIAL. "+
		"Takes effect at the next start.", "", pathMaxLen, &at.Share.TURN).checked(checkTURN),
	text(turnUserKey, "TURN user name", "The user name for TURN_CREDENTIAL. Not needed with TURN_SECRET. Takes "+
		"effect at the next start.", "", modelMaxLen, &at.Share.TURNUser),
	secret("DISCORD_GOLIVE_TOKEN", "Go Live account token", "The token of an account that Discord allows to go "+
		"live. Never the bot's."),
	secret(SecretDiscordClient, "Discord client secret", "Lets people sign in with their Discord accounts, for the "+
		"dashboard, the Activity and links to one person. The developer portal shows it under OAuth2."),
	secret(SecretTURN, "TURN secret", "Shared with the TURN servers (coturn: static-auth-secret). clank uses it to "+
		"make credentials that expire after six hours for people who may watch."),
	secret(CredentialTURN, "TURN password", "A password that does not expire, for servers without a shared secret. "+
		"Everyone who may watch can read it."),
)
