package hardening_test

import (
	"runtime"
	"testing"

	"clank/internal/hardening"
	"clank/internal/test/check"
)

func TestSecretsAreNotInherited(t *testing.T) {
	needed := []string{
		"HOME=/h", "PATH=/bin", "LANG=de_DE.UTF-8", "LC_ALL=C", "XDG_RUNTIME_DIR=/run/user/1", "DISPLAY=:0",
		"TMPDIR=/t", "TZ=UTC",
	}
	secrets := []string{
		"DISCORD_TOKEN=s", "OPENAI_API_KEY=s", "GOOGLE_API_KEY=s", "CLANK_VAULT_KEY=s", "CLANK_NODE_TOKEN=s", "CLANK_HOME=/c",
		"HTTPS_PROXY=http://u:s@p", "AWS_SECRET_ACCESS_KEY=s", "SSLKEYLOGFILE=/k", "LD_PRELOAD=/l", "HOMER=s", "GH_TOKEN=s",
	}
	if runtime.GOOS != "windows" { // where that is PATH
		secrets = append(secrets, "path=s")
	}
	check.Diff(t, "what a program gets", hardening.Inheritable(append(secrets, needed...)), needed)
}
