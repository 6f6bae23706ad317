package policy_test

import (
	"errors"
	"testing"

	"clank/browsermgr/egress/policy"
)

// spelling is a way to write an address, what host is in it, and by which rule it is refused: ok for none. The host of
// what cannot be read is empty.
type spelling struct{ url, host, rule string }

const (
	ok        = ""
	private   = policy.RulePrivate
	metadata  = policy.RuleMetadata
	localName = policy.RuleLocalName
	malformed = policy.RuleMalformed
)

// spellings is the table of addresses: every way that is known to lead past a check which reads them with less care.
var spellings = []spelling{
	// Plain ones, one of each entry of the registries, and the neighbours of the entries.
	{"http://0.0.0.0/", "0.0.0.0", private},
	{"http://0.255.255.255/", "0.255.255.255", private},
	{"http://1.0.0.0/", "1.0.0.0", ok},
	{"http://9.255.255.255/", "9.255.255.255", ok},
	{"http://10.0.0.0/", "10.0.0.0", private},
	{"http://10.255.255.255/", "10.255.255.255", private},
	{"http://11.0.0.0/", "11.0.0.0", ok},
	{"http://100.63.255.255/", "100.63.255.255", ok},
	{"http://100.64.0.0/", "100.64.0.0", private},
	{"http://100.127.255.255/", "100.127.255.255", private},
	{"http://100.128.0.0/", "100.128.0.0", ok},
	{"http://100.100.100.200/", "100.100.100.200", metadata},
	{"http://126.255.255.255/", "126.255.255.255", ok},
	{"http://127.0.0.0/", "127.0.0.0", private},
	{"http://127.0.0.1/", "127.0.0.1", private},
	{"http://127.255.255.255/", "127.255.255.255", private},
	{"http://128.0.0.0/", "128.0.0.0", ok},
	{"http://168.63.129.15/", "168.63.129.15", ok},
	{"http://168.63.129.16/", "168.63.129.16", metadata},
	{"http://169.253.255.255/", "169.253.255.255", ok},
	{"http://169.254.0.0/", "169.254.0.0", private},
	{"http://169.254.169.254/", "169.254.169.254", metadata},
	{"http://169.254.170.2/", "169.254.170.2", metadata},
	{"http://169.254.255.255/", "169.254.255.255", private},
	{"http://169.255.0.0/", "169.255.0.0", ok},
	{"http://172.15.255.255/", "172.15.255.255", ok},
	{"http://172.16.0.0/", "172.16.0.0", private},
	{"http://172.31.255.255/", "172.31.255.255", private},
	{"http://172.32.0.0/", "172.32.0.0", ok},
	{"http://192.0.0.1/", "192.0.0.1", private},
	{"http://192.0.0.192/", "192.0.0.192", metadata},
	{"http://192.0.1.0/", "192.0.1.0", ok},
	{"http://192.0.2.1/", "192.0.2.1", private},
	{"http://192.31.196.1/", "192.31.196.1", private},
	{"http://192.52.193.1/", "192.52.193.1", private},
	{"http://192.88.99.1/", "192.88.99.1", private},
	{"http://192.167.255.255/", "192.167.255.255", ok},
	{"http://192.168.0.0/", "192.168.0.0", private},
	{"http://192.168.255.255/", "192.168.255.255", private},
	{"http://192.169.0.0/", "192.169.0.0", ok},
	{"http://192.175.48.1/", "192.175.48.1", private},
	{"http://198.17.255.255/", "198.17.255.255", ok},
	{"http://198.18.0.0/", "198.18.0.0", private},
	{"http://198.19.255.255/", "198.19.255.255", private},
	{"http://198.20.0.0/", "198.20.0.0", ok},
	{"http://198.51.100.7/", "198.51.100.7", private},
	{"http://203.0.113.7/", "203.0.113.7", private},
	{"http://223.255.255.255/", "223.255.255.255", ok},
	{"http://224.0.0.0/", "224.0.0.0", private},
	{"http://239.255.255.250/", "239.255.255.250", private},
	{"http://240.0.0.1/", "240.0.0.1", private},
	{"http://255.255.255.255/", "255.255.255.255", private},
	{"http://[::]/", "::", private},
	{"http://[::1]/", "::1", private},
	{"http://[::2]/", "::2", private},
	{"http://[100::1]/", "100::1", private},
	{"http://[100:0:0:1::1]/", "100:0:0:1::1", private},
	{"http://[1fff::1]/", "1fff::1", private},
	{"http://[2001:2::1]/", "2001:2::1", private},
	{"http://[2001:10::1]/", "2001:10::1", private},
	{"http://[2001:20::1]/", "2001:20::1", private},
	{"http://[2001:1ff:ffff::1]/", "2001:1ff:ffff::1", private},
	{"http://[2001:200::1]/", "2001:200::1", ok},
	{"http://[2001:db8::1]/", "2001:db8::1", private},
	{"http://[2001:4860:4860::8888]/", "2001:4860:4860::8888", ok},
	{"http://[2606:4700::1111]/", "2606:4700::1111", ok},
	{"http://[2620:4f:8000::1]/", "2620:4f:8000::1", private},
	{"http://[3fff::1]/", "3fff::1", private},
	{"http://[4000::1]/", "4000::1", private},
	{"http://[5f00::1]/", "5f00::1", private},
	{"http://[fc00::1]/", "fc00::1", private},
	{"http://[fd00::1]/", "fd00::1", private},
	{"http://[fd00:ec2::254]/", "fd00:ec2::254", metadata},
	{"http://[fd20:ce::254]/", "fd20:ce::254", metadata},
	{"http://[fe80::1]/", "fe80::1", private},
	{"http://[fec0::1]/", "fec0::1", private},
	{"http://[ff02::1]/", "ff02::1", private},

	// IPv4 in fewer parts, and in other bases.
	{"http://127.1/", "127.0.0.1", private},
	{"http://127.0.1/", "127.0.0.1", private},
	{"http://127.65535/", "127.0.255.255", private},
	{"http://10.1/", "10.0.0.1", private},
	{"http://192.168.257/", "192.168.1.1", private},
	{"http://8.8.2056/", "8.8.8.8", ok},
	{"http://0/", "0.0.0.0", private},
	{"http://0x/", "0.0.0.0", private},
	{"http://0x.0x.0x.0x/", "0.0.0.0", private},
	{"http://00/", "0.0.0.0", private},
	{"http://2130706433/", "127.0.0.1", private},
	{"http://2852039166/", "169.254.169.254", metadata},
	{"http://3232235777/", "192.168.1.1", private},
	{"http://167772161/", "10.0.0.1", private},
	{"http://134744072/", "8.8.8.8", ok},
	{"http://4294967295/", "255.255.255.255", private},
	{"http://4294967296/", "", malformed},
	{"http://18446744073709551617/", "", malformed},
	{"http://340282366920938463463374607431768211457/", "", malformed},
	{"http://0x7f000001/", "127.0.0.1", private},
	{"http://0X7F000001/", "127.0.0.1", private},
	{"http://0x7F.1/", "127.0.0.1", private},
	{"http://0x7f.0x0.0x0.0x1/", "127.0.0.1", private},
	{"http://0x0000000007f.0.0.1/", "127.0.0.1", private},
	{"http://0xa9fea9fe/", "169.254.169.254", metadata},
	{"http://0xA9.0xFE.0xA9.0xFE/", "169.254.169.254", metadata},
	{"http://0x08080808/", "8.8.8.8", ok},
	{"http://0x100000000/", "", malformed},
	{"http://0x7f.0.0.0x1g/", "0x7f.0.0.0x1g", ok}, // a name: its last part is no number
	{"http://017700000001/", "127.0.0.1", private},
	{"http://0177.0.0.1/", "127.0.0.1", private},
	{"http://0177.0x0.0.01/", "127.0.0.1", private},
	{"http://00000177.0.0.1/", "127.0.0.1", private},
	{"http://012.0.0.1/", "10.0.0.1", private},
	{"http://0251.0376.0251.0376/", "169.254.169.254", metadata},
	{"http://0300.0250.0.1/", "192.168.0.1", private},
	{"http://010.010.010.010/", "8.8.8.8", ok},
	{"http://08.8.8.8/", "", malformed},
	{"http://127.0.0.09/", "", malformed},
	{"http://256.0.0.1/", "", malformed},
	{"http://127.0.0.256/", "", malformed},
	{"http://127.0.65536/", "", malformed},
	{"http://127.16777216/", "", malformed},
	{"http://425.510.425.510/", "", malformed},
	{"http://1.2.3.4.5/", "", malformed},
	{"http://127.0.0.1.0/", "", malformed},
	{"http://127..0.1/", "", malformed},
	{"http://.127.0.0.1/", "", malformed},
	{"http://127.0.0.1../", "", malformed},
	{"http://-1/", "-1", ok}, // a name
	{"http://+127.0.0.1/", "", malformed},
	{"http://127.0.0.+1/", "", malformed},
	{"http://127.0.0.1e0/", "127.0.0.1e0", ok}, // a name
	{"http://1_0.0.0.1/", "", malformed},
	{"http://0b1111111.0.0.1/", "", malformed},
	{"http://0o177.0.0.1/", "", malformed},
	{"http://foo.0x7f/", "", malformed},
	{"http://foo.1/", "", malformed},
	{"http://127.0.0.1./", "127.0.0.1", private},
	{"http://2130706433./", "127.0.0.1", private},
	{"http://0x7f.1./", "127.0.0.1", private},

	// Letters and dots that become digits and dots.
	{"http://%31%32%37.0.0.1/", "127.0.0.1", private},
	{"http://127%2e0%2e0%2e1/", "127.0.0.1", private},
	{"http://%30%78%37%66.1/", "127.0.0.1", private},
	{"http://%32%31%33%30%37%30%36%34%33%33/", "127.0.0.1", private},
	{"http://127.0.0.1%2e/", "127.0.0.1", private},
	{"http://127.0.0.1%00/", "", malformed},
	{"http://127.0.0.1%00.example.com/", "", malformed},
	{"http://127.0.0.1%20/", "", malformed},
	{"http://127.0.0.1%2f.example.com/", "", malformed},
	{"http://127.0.0.1%23.example.com/", "", malformed},
	{"http://127.0.0.1%3a80/", "", malformed},
	{"http://127.0.0.1%/", "", malformed},
	{"http://%2531.0.0.1/", "", malformed}, // decoded once only
	{"http://１２７.０.０.１/", "127.0.0.1", private},
	{"http://１２７．０．０．１/", "127.0.0.1", private},
	{"http://127。0。0。1/", "127.0.0.1", private},
	{"http://127｡0｡0｡1/", "127.0.0.1", private},
	{"http://127.0.0.1。/", "127.0.0.1", private},
	{"http://０x７f.1/", "127.0.0.1", private},
	{"http://０Ｘ７Ｆ.1/", "127.0.0.1", private},
	{"http://①②⑦.⓪.⓪.①/", "127.0.0.1", private},
	{"http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/", "169.254.169.254", metadata},
	{"http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", "127.0.0.1", private},
	{"http://¹²⁷.⁰.⁰.¹/", "127.0.0.1", private},
	{"http://₁₂₇.₀.₀.₁/", "127.0.0.1", private},
	{"http://㉑㉚.0.0.1/", "", malformed}, // 2130.0.0.1
	{"http://⑧.⑧.⑧.⑧/", "8.8.8.8", ok},
	{"http://127\u00ad.0.0.1/", "127.0.0.1", private},
	{"http://12\u200b7.0.0.1/", "127.0.0.1", private},
	{"http://127.0.0.1\u2060/", "127.0.0.1", private},
	{"http://127.0.0.1\ufeff/", "127.0.0.1", private},
	{"http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", "127.0.0.1", private},
	{"http://127%E3%80%820%E3%80%820%E3%80%821/", "127.0.0.1", private},
	{"http://%ff.0.0.1/", "", malformed},
	{"http://١٢٧.٠.٠.١/", "", malformed}, // Arabic digits are not mapped; the name breaks the rules of direction
	{"http://१२७.०.०.१/", "xn--e4bcp.xn--d4b.xn--d4b.xn--e4b", ok},

	// IPv6 spellings, and IPv4 in IPv6.
	{"http://[0:0:0:0:0:0:0:1]/", "::1", private},
	{"http://[0000:0000:0000:0000:0000:0000:0000:0001]/", "::1", private},
	{"http://[::0.0.0.1]/", "::1", private},
	{"http://[0::1]/", "::1", private},
	{"http://[::1].]/", "", malformed},
	{"http://[::1/", "", malformed},
	{"http://::1/", "", malformed},
	{"http://::1]/", "", malformed},
	{"http://[[::1]]/", "", malformed},
	{"http://[::1]x/", "", malformed},
	{"http://[::1].example.com/", "", malformed},
	{"http://[]/", "", malformed},
	{"http://[:]/", "", malformed},
	{"http://[:::1]/", "", malformed},
	{"http://[1::2::3]/", "", malformed},
	{"http://[127.0.0.1]/", "", malformed},
	{"http://[::00001]/", "", malformed},
	{"http://[::g]/", "", malformed},
	{"http://[::1%25lo]/", "", malformed},
	{"http://[fe80::1%25eth0]/", "", malformed},
	{"http://[fe80::1%eth0]/", "", malformed},
	{"http://[2001:4860:4860::8888%251]/", "", malformed},
	{"http://%5b::1%5d/", "", malformed},
	{"http://[%3a%3a1]/", "", malformed},
	{"http://[::１]/", "", malformed},
	{"http://[::127.0.0.1]/", "::7f00:1", private},
	{"http://[::8.8.8.8]/", "::808:808", private},
	{"http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", private},
	{"http://[::ffff:7f00:1]/", "::ffff:127.0.0.1", private},
	{"http://[::FFFF:7F00:0001]/", "::ffff:127.0.0.1", private},
	{"http://[0:0:0:0:0:ffff:127.0.0.1]/", "::ffff:127.0.0.1", private},
	{"http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1", private},
	{"http://[::ffff:0.0.0.0]/", "::ffff:0.0.0.0", private},
	{"http://[::ffff:169.254.169.254]/", "::ffff:169.254.169.254", metadata},
	{"http://[::ffff:a9fe:a9fe]/", "::ffff:169.254.169.254", metadata},
	{"http://[::ffff:8.8.8.8]/", "::ffff:8.8.8.8", ok},
	{"http://[::ffff:127.1]/", "", malformed},
	{"http://[::ffff:0x7f.0.0.1]/", "", malformed},
	{"http://[::ffff:0177.0.0.1]/", "", malformed},
	{"http://[::ffff:127.0.0.1.]/", "", malformed},
	{"http://[::ffff:256.0.0.1]/", "", malformed},
	{"http://[::ffff:0:127.0.0.1]/", "::ffff:0:7f00:1", private},
	{"http://[::ffff:0:8.8.8.8]/", "::ffff:0:808:808", private},
	{"http://[64:ff9b::127.0.0.1]/", "64:ff9b::7f00:1", private},
	{"http://[64:ff9b::a9fe:a9fe]/", "64:ff9b::a9fe:a9fe", metadata},
	{"http://[64:ff9b::10.1.2.3]/", "64:ff9b::a01:203", private},
	{"http://[0064:ff9b:0::0a00:0001]/", "64:ff9b::a00:1", private},
	{"http://[64:ff9b::8.8.8.8]/", "64:ff9b::808:808", ok},
	{"http://[64:ff9b:0:0:0:1:808:808]/", "64:ff9b::1:808:808", private},
	{"http://[64:ff9b:1::10.0.0.1]/", "64:ff9b:1::a00:1", private},
	{"http://[64:ff9b:1:7f00:0:100::]/", "64:ff9b:1:7f00:0:100::", private},
	{"http://[64:ff9b:1::8.8.8.8]/", "64:ff9b:1::808:808", private},
	{"http://[2002:7f00:1::]/", "2002:7f00:1::", private},
	{"http://[2002:a9fe:a9fe::1]/", "2002:a9fe:a9fe::1", private},
	{"http://[2002:808:808::1]/", "2002:808:808::1", private},
	{"http://[2001::1]/", "2001::1", private},
	{"http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "2001:0:4136:e378:8000:63bf:80ff:fffe", private},
	{"http://[2001:0:808:808::f7f7:f7f7]/", "2001:0:808:808::f7f7:f7f7", private},
	{"http://[2606:4700::5efe:127.0.0.1]/", "2606:4700::5efe:7f00:1", private},
	{"http://[2606:4700::5efe:a9fe:a9fe]/", "2606:4700::5efe:a9fe:a9fe", metadata},
	{"http://[2606:4700::200:5efe:10.0.0.1]/", "2606:4700::200:5efe:a00:1", private},
	{"http://[2606:4700::200:5efe:8.8.8.8]/", "2606:4700::200:5efe:808:808", ok},

	// What stands around the host.
	{"HTTP://127.0.0.1/", "127.0.0.1", private},
	{"hTTps://127.0.0.1", "127.0.0.1", private},
	{"ws://127.0.0.1/", "127.0.0.1", private},
	{"wss://[::1]/", "::1", private},
	{"http:127.0.0.1", "127.0.0.1", private},
	{"http:/127.0.0.1", "127.0.0.1", private},
	{"http:///127.0.0.1", "127.0.0.1", private},
	{"http://////127.0.0.1", "127.0.0.1", private},
	{`http:\\127.0.0.1\`, "127.0.0.1", private},
	{`http:/\127.0.0.1`, "127.0.0.1", private},
	{`http://127.0.0.1\@example.com/`, "127.0.0.1", private},
	{`http://127.0.0.1\.example.com/`, "127.0.0.1", private},
	{`http://example.com\@127.0.0.1/`, "example.com", ok},
	{"http://example.com@127.0.0.1/", "127.0.0.1", private},
	{"http://127.0.0.1@example.com/", "example.com", ok},
	{"http://a@b@127.0.0.1/", "127.0.0.1", private},
	{"http://example.com:80@127.0.0.1/", "127.0.0.1", private},
	{"http://example.com%40127.0.0.1/", "", malformed},
	{"http://@127.0.0.1/", "127.0.0.1", private},
	{"http://:@127.0.0.1/", "127.0.0.1", private},
	{"http://127.0.0.1?@example.com/", "127.0.0.1", private},
	{"http://127.0.0.1#@example.com/", "127.0.0.1", private},
	{"http://example.com#@127.0.0.1/", "example.com", ok},
	{"http://example.com/@127.0.0.1/", "example.com", ok},
	{"http://127.0.0.1;@example.com/", "example.com", ok},
	{"http://127.0.0.1:80/", "127.0.0.1", private},
	{"http://127.0.0.1:/", "127.0.0.1", private},
	{"http://127.0.0.1:00080/", "127.0.0.1", private},
	{"http://127.0.0.1:65536/", "", malformed},
	{"http://127.0.0.1:80:80/", "", malformed},
	{"http://127.0.0.1:+80/", "", malformed},
	{"http://127.0.0.1:８０/", "", malformed},
	{"http://[::1]:80/", "::1", private},
	{"http://[::1]80/", "", malformed},
	{" http://127.0.0.1/ ", "127.0.0.1", private},
	{"\x01\x1fhttp://127.0.0.1/", "127.0.0.1", private},
	{"ht\ntp://127.\t0.0.1/", "127.0.0.1", private},
	{"http:/\n/127.0.0.1/", "127.0.0.1", private},
	{"http://127.0.0.1\r\n.example.com/", "127.0.0.1.example.com", ok},
	{"http://127.0.0 .1/", "", malformed},
	{"http://127.0.0.1\x00/", "", malformed},
	{"http://127.0.0.1\u00a0/", "", malformed},
	{"http://127.0.0.1|/", "", malformed},
	{"http://127.0.0.1^/", "", malformed},
	{"http://<127.0.0.1>/", "", malformed},
	{"//127.0.0.1/", "", malformed},
	{"127.0.0.1", "", malformed},
	{"127.0.0.1:80", "", malformed},
	{"http:", "", malformed},
	{"http://", "", malformed},
	{"http://./", "", malformed},
	{"http://../", "", malformed},
	{"http://%/", "", malformed},
	{"http://:80/", "", malformed},
	{"http://@/", "", malformed},

	// Names.
	{"http://localhost/", "localhost", localName},
	{"http://LOCALHOST/", "localhost", localName},
	{"http://localhost./", "localhost", localName},
	{"http://localhost../", "", malformed},
	{"http://localhost:3000/", "localhost", localName},
	{"http://a.localhost/", "a.localhost", localName},
	{"http://a.b.LocalHost./", "a.b.localhost", localName},
	{"http://localhost.localdomain/", "localhost.localdomain", localName},
	{"http://ｌｏｃａｌｈｏｓｔ/", "localhost", localName},
	{"http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "localhost", localName},
	{"http://loc%61lhost/", "localhost", localName},
	{"http://loc\u00adalhost/", "localhost", localName},
	{"http://localhoſt/", "localhost", localName},
	{"http://printer.local/", "printer.local", localName},
	{"http://printer。local/", "printer.local", localName},
	{"http://metadata.google.internal/", "metadata.google.internal", localName},
	{"http://METADATA.google.internal./", "metadata.google.internal", localName},
	{"http://db.corp.internal/", "db.corp.internal", localName},
	{"http://notlocalhost/", "notlocalhost", ok},
	{"http://localhost.example.com/", "localhost.example.com", ok},
	{"http://mylocal/", "mylocal", ok},
	{"http://EXAMPLE.com./", "example.com", ok},
	{"http://ex%41mple.com/", "example.com", ok},
	{"http://faß.de/", "xn--fa-hia.de", ok},
	{"http://bücher.example/", "xn--bcher-kva.example", ok},
	{"http://r3---sn-x.example.com/", "r3---sn-x.example.com", ok},
	{"http://a_b.example.com/", "a_b.example.com", ok},
	{"http://xn--/", "", malformed},
	{"http://xn--a/", "", malformed},
	{"http://127.0.0.1.nip.io/", "127.0.0.1.nip.io", ok}, // its address is judged when it is resolved
}

func TestSpellingsAreJudgedByTheHostThatABrowserFindsInThem(t *testing.T) {
	if got, want := len(spellings), 200; got < want {
		t.Fatalf("the table has %d spellings, want %d or more", got, want)
	}
	p := compile(t, policy.Rules{})
	seen := map[string]bool{}
	for _, s := range spellings {
		if seen[s.url] {
			t.Errorf("%q is in the table twice", s.url)
		}
		seen[s.url] = true
		target, err := p.CheckURL(s.url)
		host, rule := target.Host, ""
		if err != nil {
			refusal, isRefusal := errors.AsType[*policy.Refusal](err)
			if !isRefusal {
				t.Fatalf("%q: got an error of type %T", s.url, err)
			}
			if host, rule = refusal.Host, refusal.Rule; rule == malformed {
				host = ""
			}
		}
		if host != s.host || rule != s.rule {
			t.Errorf("%q: got %q %q, want %q %q (%v)", s.url, host, rule, s.host, s.rule, err)
		}
		if _, err := p.CheckEnteredURL(s.url); err == nil && s.rule != ok {
			t.Errorf("%q may be given", s.url)
		}
	}
}

// compile makes a policy that is known to be sound.
func compile(tb testing.TB, rules policy.Rules) *policy.Policy {
	tb.Helper()
	p, err := policy.Compile(rules)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}
