// The URL corpus: [input] or [input, base], by what each group tries.
export const parse = [
  // plain
  ["http://example.com"], ["http://example.com/"], ["https://example.com/a/b/c?x=1&y=2#frag"],
  ["HTTP://EXAMPLE.COM/PATH?Q#F"], ["http://user:pass@example.com:8080/p"], ["http://user@example.com/"],
  ["ftp://files.example.com/pub/a.txt"], ["ws://h/chat"], ["wss://h:443/chat"], ["wss://h:444/chat"],
  ["https://example.com?x"], ["https://example.com#x"], ["https://example.com?#"], ["https://example.com/?#"],
  ["https://api.github.com/repos/o/r/issues?state=open&per_page=100&page=2"],
  ["https://example.com/search?q=a+b%20c&lang=en#:~:text=hi"], ["mailto:a@example.com"], ["tel:+1-555"], ["data:text/plain,hello world"],
  ["javascript:alert(1)"], ["about:blank"], ["urn:isbn:0451450523"], ["blob:https://example.com/uuid"], ["blob:d3958f5c"],
  ["blob:http://user@h:81/x"], ["blob:file:///x"], ["blob:ws://h/"], ["blob:https://h:443/x#f"],
  // whitespace and controls
  ["  http://h/  "], ["\u0000\u001f http://h/\u0001"], ["ht\ntp://h\r/\ta"], ["http://h/a b"], ["http://h/a\u00a0b"],
  ["\thttp://h/\n?a\tb#c\nd"], ["http://h/ "], ["http://h/?q  "], ["\ufeffhttp://h/"], ["http://ex ample.com/"], ["http://ex\tample.com/"],
  // failures
  [""], [" "], ["foo"], ["//h/p"], ["/p"], ["?q"], ["#f"], ["http:"], ["http:/"], ["http://"], ["http:///"], ["http://?"], ["http://#"],
  ["http://@/"], ["http://@h/"], ["http://:@h/"], ["http://a:@h/"], ["http://:b@h/"], ["http://a:b@/"], ["http://:80/"], ["http://h:"],
  ["http://h:/"], ["http://h:a/"], ["http://h:80a/"], ["http://h:65535/"], ["http://h:65536/"], ["http://h:000080/"], ["http://h:0/"], ["http://h:-1/"],
  ["http://h:99999999999999999999/"], ["http://h: 80/"], ["1http://h/"], ["ht*tp://h/"], ["-a:b"], ["a+b.c-d:e"], ["é:x"], [":"], [":a"], ["::"],
  ["http://a b/"], ["http://a<b/"], ["http://a>b/"], ["http://a^b/"], ["http://a|b/"], ["http://a`b/"], ["http://a{b}/"], ["http://a\"b/"],
  ["http://a%b/"], ["http://a%41b/"], ["http://a%2fb/"], ["http://a%00b/"], ["http://a%zzb/"], ["http://a%7fb/"], ["http://a\u007fb/"], ["http://%e2%98%83/"],
  ["http://a%20b/"], ["http://a%ffb/"], ["http://a!$&'()*+,;=b/"], ["http://a_b-c~d/"], ["http://*.h/"],
  // slashes
  ["http:h"], ["http:/h"], ["http:///h"], ["http:////h/p"], ["http:\\\\h\\p"], ["http:/\\h"], ["http:\\/h"], ["http://h\\p?a\\b#c\\d"], ["https:example.com/"],
  ["foo:h"], ["foo:/h"], ["foo://h"], ["foo:///h"], ["foo:////h"], ["foo:\\\\h\\p"], ["foo://h\\p"], ["foo:/\\h"],
  // userinfo
  ["http://a:b:c@h/"], ["http://a@b@h/"], ["http://a:b@c:d@h/"], ["http://a%40b:c%3Ad@h/"], ["http://us er:pä ss@h/"], ["http://a/b@h/"], ["http://a?b@h/"],
  ["http://a#b@h/"], ["http://a\\b@h/"], ["http://!$&'()*+,-.;=_~:!$&'()*+,-.;=_~@h/"], ["http://<>\"`{}|^[]@h/"], ["foo://a:b@h:1/p"], ["foo://@h/"], ["foo://a@/p"],
  ["http://\ud800:\udc00@h/"], ["http://日:本@h/"],
  // ports
  ["http://h:80/"], ["http://h:443/"], ["https://h:443/"], ["https://h:80/"], ["ftp://h:21/"], ["ws://h:80/"], ["foo://h:80/"], ["foo://h:/"], ["foo://:80/"], ["foo://h:x"],
  // dot segments
  ["http://h/."], ["http://h/./"], ["http://h/.."], ["http://h/../"], ["http://h/a/./b"], ["http://h/a/../b"], ["http://h/a/.."], ["http://h/a/b/../.."],
  ["http://h/a/b/../../../../c"], ["http://h/%2e"], ["http://h/a/%2E%2e/b"], ["http://h/a/.%2e"], ["http://h/a/%2e./b"], ["http://h/a/%2e%2e%2e"], ["http://h/..."],
  ["http://h/.a"], ["http://h/a."], ["http://h/a//b"], ["http://h//"], ["http://h//a/../b"], ["http://h/a/..//b"], ["http://h/a\\..\\b"], ["http://h/..\\..\\"],
  ["foo://h/a/../b"], ["foo:/a/../b"], ["foo:a/../b"], ["foo:/.."], ["foo:/."], ["foo:/.//p"], ["foo:/a/..//p"], ["foo://h/.."], ["foo:/..//"], ["web+demo:/.//not-a-host/"],
  ["http://h/a;b/c;d/../e"], ["http://h/%2f/../x"], ["http://h/a?b/../c"], ["http://h/a#b/../c"],
  // percent-encode sets
  ["http://h/ !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\u007f"], ["http://h/?!\"$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\u007f"], ["http://h/#!\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\u007f"],
  ["foo://h/?'\"<>`{}"], ["foo:!\"$%&'()*+,-./09:;<=>@AZ[\\]^_`az{|}~\u007f"], ["foo://!\"$&'()*+,-.;=_`{}~"], ["foo://h/\u0001\u001f\u007f\u0080é日🚀"],
  ["http://h/é日🚀?é日🚀#é日🚀"], ["http://h/\ud800a\udc00"], ["http://h/?\ud800"], ["http://h/#\udfff"], ["http://h/%"], ["http://h/%2"], ["http://h/%zz"], ["http://h/%41%e9"],
  ["http://h/\u0000"], ["http://h/\u2028\u3000"], ["foo:é"], ["foo: b"], ["foo:b "], ["foo:b  ?q"], ["foo:b #f"], ["foo:\u0000"], ["data:text/html,<p>é \"x\"</p>"], ["http://h/a%20b+c"],
  // IPv4
  ["http://127.0.0.1/"], ["http://127.1/"], ["http://127.0.1/"], ["http://2130706433/"], ["http://0x7f000001/"], ["http://0x7f.0.0.1/"], ["http://017700000001/"], ["http://0177.0.0.1/"],
  ["http://256.0.0.1/"], ["http://1.2.3.256/"], ["http://1.2.65536/"], ["http://1.2.65535/"], ["http://4294967295/"], ["http://4294967296/"], ["http://1.2.3.4.5/"], ["http://1.2.3.4./"],
  ["http://1.2.3.4../"], ["http://1..2/"], ["http://.1/"], ["http://1.2.3.08/"], ["http://1.2.3.0x/"], ["http://0x/"], ["http://0X1F.1/"], ["http://0xg/"], ["http://1.2.3.a/"], ["http://a.1/"],
  ["http://a.0x/"], ["http://a.0x1g/"], ["http://a.09/"], ["http://09/"], ["http://9/"], ["http://1e3/"], ["http://１２７.0.0.1/"], ["http://127%2e0%2e0%2e1/"], ["http://0/"], ["http://00/"], ["http://0.0.0.0/"],
  ["foo://127.1/"], ["foo://0x7f/"], ["http://1.2.3/"], ["http://999999999999999999999/"], ["http://0x100000000/"], ["http://+1/"], ["http://-1/"], ["http://1.-2/"], ["http://./"], ["http://../"], ["http://a./"], ["http://a../"],
  // IPv6
  ["http://[::]/"], ["http://[::1]:80/"], ["http://[::1]:8080/p"], ["http://[1:2:3:4:5:6:7:8]/"], ["http://[1:2:3:4:5:6:7:8:9]/"], ["http://[1:2:3:4:5:6:7]/"], ["http://[1:2:3:4:5:6:7::]/"],
  ["http://[::2:3:4:5:6:7:8]/"], ["http://[1::8]/"], ["http://[1:0:0:2:0:0:0:3]/"], ["http://[1:0:0:2:0:0:3:4]/"], ["http://[0:0:1:0:0:0:0:0]/"], ["http://[0:1:0:1:0:1:0:1]/"], ["http://[ABCD:EF01::]/"], ["http://[0001:0002::]/"],
  ["http://[00001::]/"], ["http://[g::]/"], ["http://[:1]/"], ["http://[1:]/"], ["http://[1::2::3]/"], ["http://[:::]/"], ["http://[]/"], ["http://[/"], ["http://]/"], ["http://[::1/"], ["http://::1]/"], ["http://[::1]a/"], ["http://a[::1]/"],
  ["http://[::127.0.0.1]/"], ["http://[::ffff:1.2.3.4]/"], ["http://[1:2:3:4:5:6:1.2.3.4]/"], ["http://[1:2:3:4:5:6:7:1.2.3.4]/"], ["http://[::1.2.3]/"], ["http://[::1.2.3.4.5]/"], ["http://[::1.2.3.256]/"], ["http://[::01.2.3.4]/"], ["http://[::1.2.3.4:5]/"],
  ["http://[::.1.2.3]/"], ["http://[::1.2.3.]/"], ["http://[::1%25eth0]/"], ["http://[::1%eth0]/"], ["http://[ ::1]/"], ["foo://[::1]:1/p"], ["foo://[::1"], ["http://[1:2:3:4:5:6::8]/"], ["http://[1::3:4:5:6:7:8]/"], ["http://[v1.x]/"],
  // IDNA that lower-casing and NFKC settle
  ["http://日本語.jp/"], ["http://BÜCHER.example/"], ["http://bu\u0308cher.de/"], ["http://☃.net/"], ["http://ＧＯ.com/"], ["http://a。b/"], ["http://ß.de/"], ["http://ΑΣ.gr/"], ["http://xn--ls8h.la/"], ["http://💩.la/"],
  ["http://a\u00adb.c/"], ["http://\u00ad/"], ["http://пример.испытание/"], ["http://مثال.إختبار/"], ["http://ex%C3%A4mple.com/"], ["http://ａ／ｂ/"], ["http://a\u2100b/"], ["http://é.é.é/"], ["foo://日本/"], ["foo://É/"],
  // file
  ["file:"], ["file:/"], ["file://"], ["file:///"], ["file:///a/b"], ["file:a"], ["file:/a"], ["file://h/a"], ["file://localhost/a"], ["file://LOCALHOST"], ["file:\\\\h\\a"], ["file:///C:/a"], ["file:///C|/a"], ["file:C:/a"], ["file:C|"], ["file://C:/a"], ["file://C|/a"],
  ["file:///C:/.."], ["file:///C:/../.."], ["file:///C:"], ["file:///a/../C:/x"], ["file:///a/C|/.."], ["file:////a"], ["file://///a"], ["file://h:80/"], ["file://u@h/"], ["file://h?q#f"], ["file:?q"], ["file:#f"], ["file://[::1]/"], ["file://1.1/"], ["file:///é b"],
  ["file:///c:\\x\\..\\..\\y"], ["file://%43%3A/"], ["file:///C:a"], ["file:///1:/.."], ["file:.."], ["file:...//../x"], ["FILE:///X"],
  // relative
  ["", "http://u:p@h:1/a/b?q#f"], ["#", "http://h/a?q#f"], ["#x", "http://h/a?q#f"], ["?", "http://h/a?q#f"], ["?x", "http://h/a/b?q#f"], ["x", "http://u:p@h:1/a/b?q#f"], ["x/", "http://h/a/b"], ["./x", "http://h/a/b"], ["../x", "http://h/a/b/c"],
  ["../../../x", "http://h/a/b"], [".", "http://h/a/b"], ["..", "http://h/a/b"], ["/x", "http://u@h/a/b?q"], ["//o/x", "http://u:p@h:1/a"], ["///o", "http://h/"], ["\\x", "http://h/a/b"], ["\\\\o\\x", "http://h/a"], ["/\\o", "http://h/"], ["x\\y", "http://h/a/b"],
  ["http:x", "http://h/a/b"], ["http:/x", "http://h/a/b"], ["http://x", "http://h/a/b"], ["http:", "http://h/a?q#f"], ["http:?x", "http://h/a?q"], ["http:#x", "http://h/a?q"], ["https:x", "http://h/a/b"], ["https:/x", "http://h/"], ["HTTP:x", "http://h/a/b"], ["http:\\\\x", "http://h/a"], ["http:..", "http://h/a/b/"],
  ["a:b", "http://h/"], ["./a:b", "http://h/"], ["x", "http://h"], ["x", "foo://h"], ["x", "foo://h/a/b"], ["../x", "foo://h/a/b"], ["/x", "foo://h/a"], ["//x", "foo://h/a"], ["\\x", "foo://h/a/b"], ["x", "foo:/a/b"], ["..", "foo:/a"], ["/..//x", "foo:/a"], ["", "foo:/a?q#f"], ["x", "foo:"], ["#x", "foo:opaque?q#f"], ["", "foo:opaque"],
  ["?x", "foo:opaque"], ["/x", "foo:opaque"], ["x", "mailto:a@b"], ["#x", "mailto:a@b"], ["#x", "data:a b #old"], ["x", "bad"], ["http://h/", "bad"], ["x", ""], ["x", "http://"], ["foo:x", "foo://h/a"], ["foo:/x", "foo://h/a"],
  ["x", "file:///a/b"], ["..", "file:///C:/a"], ["../../..", "file:///C:/a"], ["/x", "file:///C:/a/b"], ["/x", "file://h/C:/a"], ["/D:/x", "file:///C:/a"], ["D:/x", "file:///C:/a"], ["D|", "file:///C:/a"], ["D:", "file://h/a"], ["//h2/x", "file://h/a"], ["///x", "file://h/a"], ["", "file:///a?q#f"], ["?x", "file:///a?q#f"], ["#x", "file:///a?q#f"],
  ["file:x", "file:///a/b"], ["file:/x", "file:///C:/b"], ["file:x", "http://h/a"], ["http:x", "file:///a"], ["C:x", "file:///a/b"], ["C:?x", "file:///a/b"], ["/C|?x", "file:///a/b"], ["\\\\h\\x", "file:///a"], ["\\x", "file:///C:/a"], ["..\\x", "file:///C:/a/b"], ["/", "file:///C:"], ["x", "file:///C:"], ["/..", "file:///C:/a"], ["//C:/x", "file:///a"], ["//C|", "file:///a"],
  ["http://h/a/../../b?c=../d"], ["//%41/x", "http://h/"], [" x ", "http://h/a"], ["x\ty", "http://h/a"], ["//h:81", "https://x:82/"], [";a", "http://h/b;c"], ["?a?b", "http://h/"], ["#a#b", "http://h/"], ["@x", "http://h/"], ["g;x=1/../y", "http://a/b/c/d;p?q"], ["g?y/./x", "http://a/b/c/d;p?q"],
];

// [href, property, value, property, value ...]
export const setters = [
  ["http://u:p@h:1/a?q#f", "href", "https://x/"], ["http://h/", "href", " http://y/ "],
  ["http://h/", "protocol", "https"], ["http://h/", "protocol", "https:"], ["http://h/", "protocol", "HTTPS://x"], ["http://h/", "protocol", "foo"], ["http://h/", "protocol", ""], ["http://h/", "protocol", "1x"], ["http://h/", "protocol", "é"],
  ["http://h/", "protocol", "file"], ["http://u@h/", "protocol", "file"], ["http://h:1/", "protocol", "file"], ["file:///a", "protocol", "http"], ["file://h/a", "protocol", "http"], ["foo://h/", "protocol", "bar"], ["foo://h/", "protocol", "http"], ["foo:x", "protocol", "bar"],
  ["http://h:443/", "protocol", "https"], ["https://h:80/", "protocol", "http"], ["http://h/", "protocol", "ht\ntps"], ["http://h/", "protocol", "a b"], ["mailto:x", "protocol", "http"], ["ws://h:443/", "protocol", "wss:foo"],
  ["http://h/", "username", "me"], ["http://u@h/", "username", ""], ["http://u:p@h/", "username", ""], ["http://h/", "username", "a b:c@d/é"], ["file:///", "username", "x"], ["foo:x", "username", "x"], ["foo:///", "username", "x"], ["foo://h", "username", "x"], ["http://h/", "username", "\ud800\t"],
  ["http://h/", "password", "pw"], ["http://u:p@h/", "password", ""], ["http://h/", "password", "a b:c@d/é%41"], ["file://h/", "password", "x"], ["mailto:a@b", "password", "x"],
  ["http://h:1/", "host", "x"], ["http://h:1/", "host", "x:2"], ["http://h:1/", "host", "x:80"], ["http://h:1/", "host", "x:"], ["http://h:1/", "host", ""], ["http://h:1/", "host", ":2"], ["http://h/", "host", "x:2a"], ["http://h/", "host", "x:a"], ["http://h/", "host", "x:99999"], ["http://h/", "host", "x/y?z#w"], ["http://h/", "host", "x\\y"],
  ["http://h/", "host", "a b"], ["http://h/", "host", "a@b"], ["http://h/", "host", "[::1]:3"], ["http://h/", "host", "[::1"], ["http://h/", "host", "0x7f.1"], ["http://h/", "host", "É.com"], ["http://h/", "host", "x?:8"], ["http://h/", "host", "x:8\t0"], ["foo://h/", "host", ""], ["foo://u@h/", "host", ""], ["foo://h:1/", "host", ""], ["foo://h/", "host", "X Y"], ["foo://h/", "host", "x\\y"],
  ["foo:x", "host", "y"], ["mailto:a", "host", "y"], ["foo:/a", "host", "y"], ["foo:/.//a", "host", "y"], ["file:///a", "host", "x"], ["file://x/a", "host", ""], ["file:///a", "host", "localhost"], ["file:///a", "host", "x:1"], ["file:///a", "host", "C:"], ["file:///a", "host", "x/y"], ["http://h/", "host", "\tx\n"],
  ["http://h:1/", "hostname", "x"], ["http://h:1/", "hostname", "x:2"], ["http://h:1/", "hostname", ":2"], ["http://h/", "hostname", ""], ["http://h/", "hostname", "x/y"], ["http://h/", "hostname", "[::1]"], ["http://h/", "hostname", "[::1]:2"], ["http://h/", "hostname", "%41"], ["http://h/", "hostname", "a%00"], ["foo://h/", "hostname", ""], ["foo://h:1/", "hostname", ""], ["foo:x", "hostname", "y"], ["foo:/a", "hostname", "y"], ["file:///a", "hostname", "x"], ["file:///a", "hostname", "x:1"], ["http://h/", "hostname", "1.2"], ["http://h/", "hostname", "a?b"], ["http://h/", "hostname", "a#b"],
  ["http://h/", "port", "8080"], ["http://h:1/", "port", ""], ["http://h:1/", "port", "80"], ["http://h/", "port", "81abc"], ["http://h/", "port", "abc"], ["http://h:5/", "port", "65536"], ["http://h/", "port", "65535"], ["http://h/", "port", " 9"], ["http://h/", "port", "9 "], ["http://h/", "port", "-9"], ["http://h/", "port", "\t9\n9"], ["http://h/", "port", "9/x"], ["http://h/", "port", "00012"], ["file://h/", "port", "9"], ["foo:x", "port", "9"], ["foo://h", "port", "9"], ["http://h/", "port", 90], ["http://h:5/", "port", "8.5"], ["http://h/", "port", "9\\x"],
  ["http://h/a", "pathname", "b"], ["http://h/a", "pathname", "/b/../c"], ["http://h/a", "pathname", ""], ["http://h/a?q#f", "pathname", "x?y#z"], ["http://h/a", "pathname", "\\b\\c"], ["http://h/a", "pathname", "//b"], ["http://h/", "pathname", "é b%"], ["foo://h/a", "pathname", ""], ["foo://h/a", "pathname", "b"], ["foo:/a", "pathname", ""], ["foo:/a", "pathname", "//b"], ["foo:/a", "pathname", "\\b"], ["foo:x", "pathname", "y"], ["file:///a", "pathname", "C|/x"], ["file:///C:/", "pathname", "/.."], ["http://h/a", "pathname", "/b\tc"], ["foo://h", "pathname", "?"], ["foo://h", "pathname", "/.."], ["http://h/", "pathname", " a "], ["http://h/", "pathname", "%2e%2E/x"],
  ["http://h/", "search", "a=1"], ["http://h/", "search", "?a=1"], ["http://h/", "search", "??a"], ["http://h/?q", "search", ""], ["http://h/?q", "search", "?"], ["http://h/", "search", "a b'\"<>#é"], ["foo://h/", "search", "a'b"], ["http://h/#f", "search", "x"], ["http://h/", "search", "a\tb\nc"], ["foo:x", "search", "q"], ["foo:x  ?q", "search", ""], ["foo:x  ?q#f", "search", ""], ["http://h/", "search", "\ud800"],
  ["http://h/", "hash", "f"], ["http://h/", "hash", "#f"], ["http://h/", "hash", "##f"], ["http://h/#f", "hash", ""], ["http://h/#f", "hash", "#"], ["http://h/", "hash", "a b`<>\"é"], ["http://h/", "hash", "a\tb"], ["foo:x  #f", "hash", ""], ["foo:x  ?q#f", "hash", ""], ["javascript:x", "hash", "y"], ["http://h/", "hash", "\u0000"],
  ["http://h/", "search", "?a=1", "hash", "x", "pathname", "p", "port", "1", "protocol", "ftp"], ["foo:x  ?q#f", "search", "", "hash", ""], ["http://h/a", "host", "x:81", "protocol", "https", "port", "443"], ["http://h/", "origin", "x", "searchParams", "y"],
];
