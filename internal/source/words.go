package source

import (
	"slices"
	"strings"
)

// The lists of this file are sorted, as isListed needs them.

// shellCommands are the commands that make a source a shell command even when it would parse as JavaScript. Names that
// are JavaScript keywords (if, export aside) or globals of a cell (eval) are not among them.
var shellCommands = []string{
	"alias", "apk", "apt", "apt-get", "awk", "base64", "basename", "bash", "bg", "brew", "bun", "bunx", "bzip2", "cargo", "cat", "cd",
	"chgrp", "chmod", "chown", "cmd", "cmp", "comm", "command", "composer", "cp", "crontab", "curl", "cut", "date", "dd", "deno", "df",
	"diff", "dig", "dir", "dirname", "dnf", "docker", "docker-compose", "dotnet", "du", "echo", "egrep", "env", "exec", "exit", "expand",
	"export", "expr", "fd", "fg", "fgrep", "file", "find", "fold", "free", "gcc", "gem", "getopts", "gh", "git", "go", "gradle",
	"grep", "groups", "gunzip", "gzip", "hash", "head", "helm", "hostname", "htop", "id", "ifconfig", "install", "ip", "java", "javac",
	"jobs", "journalctl", "jq", "kill", "killall", "kubectl", "less", "ln", "locate", "ls", "lsof", "make", "man", "md5sum", "mkdir",
	"mktemp", "more", "mount", "mv", "mvn", "nc", "netstat", "nice", "nl", "node", "nohup", "npm", "nproc", "npx", "od", "openssl",
	"paste", "patch", "perl", "pgrep", "php", "ping", "pip", "pip3", "pipx", "pkill", "pnpm", "podman", "poetry", "popd", "powershell",
	"printenv", "printf", "ps", "pushd", "pwd", "pwsh", "pytest", "python", "python3", "read", "readlink", "realpath", "rg", "rm",
	"rmdir", "rsync", "ruby", "rustc", "scp", "sed", "seq", "set", "sh", "sha256sum", "shift", "sleep", "sort", "source", "split", "ss",
	"ssh", "stat", "strings", "su", "sudo", "systemctl", "tac", "tail", "tar", "tee", "terraform", "test", "time", "timeout", "top",
	"touch", "tr", "trap", "tree", "truncate", "tsc", "ulimit", "umask", "umount", "unalias", "uname", "uniq", "unset", "unzip",
	"uptime", "uv", "vi", "vim", "wait", "watch", "wc", "wget", "whereis", "which", "who", "whoami", "xargs", "yarn", "yum", "zip", "zsh",
}

// keywords are the words with which a JavaScript statement can start or go on, and which therefore are no command.
var keywords = []string{
	"async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
	"extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface", "let", "new", "null",
	"package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "using",
	"var", "void", "while", "with", "yield",
}

// globals are the names that a cell can use without declaring them: the language's and ours.
var globals = []string{
	"ALL_TOOLS", "API", "AggregateError", "Array", "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean",
	"DataView", "Date", "Error", "EvalError", "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "Function",
	"Infinity", "Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "MCP", "Map", "Math", "NaN", "Number", "Object",
	"Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer", "String", "Symbol",
	"SyntaxError", "TextDecoder", "TextEncoder", "TypeError", "URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array",
	"Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "WebAssembly", "agents", "arguments", "atob", "btoa", "catalog",
	"clearInterval", "clearTimeout", "console", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval",
	"globalThis", "isFinite", "isNaN", "json", "load", "log", "namespaces", "nodes", "parseFloat", "parseInt", "phase",
	"queueMicrotask", "results", "setInterval", "setTimeout", "skills", "store", "structuredClone", "text", "tools", "undefined",
	"unescape", "yield_control",
}

// exportKeywords follow export in JavaScript and TypeScript modules.
var exportKeywords = []string{
	"abstract", "async", "class", "const", "declare", "default", "enum", "function", "import", "interface", "let", "namespace", "type", "var",
}

// declarators follow a modifier or a mistyped word in front of a declaration: `declare const`, `awiat function`.
var declarators = []string{"class", "const", "enum", "function", "interface", "let", "module", "namespace", "type", "var"}

// binDirs are the places of commands that may stand in front of their names.
var binDirs = []string{"/bin/", "/usr/bin/", "/usr/local/bin/"}

func isListed(list []string, word string) bool {
	_, found := slices.BinarySearch(list, word)
	return found
}

// wordKind is the kind of a command word.
type wordKind uint8

const (
	wordNone    wordKind = iota // no command word: the source is JavaScript, whatever follows
	wordKnown                   // one of shellCommands
	wordUnknown                 // an identifier, hyphens allowed, that JavaScript gives no meaning
	wordPath                    // ./x ../x C:\x: never the start of JavaScript
	wordSlash                   // /x ~/x: a path or a regular expression
	wordKinds
)

type commandWord struct {
	kind wordKind
	text string
}

// cutCommandWord cuts the word with which a command would start off s. Its kind is wordNone if there is none.
func cutCommandWord(s string) (commandWord, string) {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	word, rest := s[:n], s[n:]
	if word == "" || !endsWord(rest) {
		return commandWord{}, ""
	}
	return commandWord{kindOfWord(word), word}, rest
}

func kindOfWord(word string) wordKind {
	name := word
	for _, dir := range binDirs {
		if base, ok := strings.CutPrefix(word, dir); ok {
			name = base
			break
		}
	}
	name = strings.TrimSuffix(name, ".exe")
	switch {
	case isListed(keywords, name), isListed(globals, name):
		return wordNone
	case isListed(shellCommands, name):
		return wordKnown
	case strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"), len(word) > 2 && word[1] == ':' && word[2] == '\\':
		return wordPath
	case len(word) > 1 && word[0] == '/', strings.HasPrefix(word, "~/"):
		return wordSlash
	case isHyphenated(name):
		return wordUnknown
	}
	return wordNone
}

// isHyphenated reports whether name is identifiers joined by hyphens, or just one. The first must not be a keyword, for
// `return-x` is JavaScript.
func isHyphenated(name string) bool {
	first, _, _ := strings.Cut(name, "-")
	if isListed(keywords, first) {
		return false
	}
	for part := range strings.SplitSeq(name, "-") {
		if part == "" || identifierLen(part) != len(part) {
			return false
		}
	}
	return isIdentifier(first)
}

// isWordByte reports whether c can be part of a command word.
func isWordByte(c byte) bool {
	switch c {
	case '-', '+', '.', '/', '\\', '~', ':':
		return true
	}
	return byteClasses[c] != classOther
}

// endsWord reports whether a command word can end where rest starts.
func endsWord(rest string) bool {
	return rest == "" || strings.IndexByte(" \t\r\n;&|<>", rest[0]) >= 0
}
