package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// What hosts keep in [Message.Meta]. The first four are what a user's message is to the host: its operational metadata.
const (
	metaIntent   = "intent"
	metaSteer    = "steerTargetRunId" // the run into which the message was said
	metaOwner    = "senderIsOwner"
	metaMentions = "humanMentions" // places in the content

	metaSender         = "senderId"
	metaSenderIdentity = "senderIdentity"
	metaReplyTo        = "replyToId"
	metaReplyPreview   = "replyToPreview"
	metaTransport      = "transport"
	metaLateMedia      = "lateMedia" // the message only brings media of one that is there
	metaMedia          = "media"
	metaImageLayout    = "mediaImageLayout"
	metaBlocked        = "beforeAgentRunBlocked" // by whom the run was refused

	metaRun         = "runId"
	metaIdentity    = "mirrorIdentity"
	metaFingerprint = "mirrorSourceFingerprint"
	metaTainted     = "turnTainted"         // true: the answer may follow from content of the network
	metaSource      = "resultContentSource" // "network": the result is such content
)

// Limits of what is restored, in UTF-16 units as JavaScript counts them.
const (
	maxSteerID      = 512
	maxReplyPreview = 2000
	maxReplySender  = 200
)

// RestoreOperationalMeta gives a user's message, as a runtime or a hook has left it, the operational metadata that the
// host had prepared it with, so that neither can forge or lose them. The content stays what it is, and what else is in
// [Message.Meta], too:
//
//   - The provenance is that of prepared, if its kind is external_user, inter_session or internal_system.
//   - A message that users are not to be shown is not shown. One that they are may be hidden nevertheless.
//   - intent is that of prepared. So is steerTargetRunId, without white space around it, if it has 1 to 512 characters.
//   - senderIsOwner is that of prepared if that is true or false; else it stays.
//   - humanMentions are those of prepared if the content has the same JSON value as that of prepared: changed
//     text must not inherit them.
//
// What prepared lacks of intent, steerTargetRunId and humanMentions, the result lacks. If prepared is the zero Message, or
// the runtime's message not a user's, the result is the runtime's message.
//
// Nothing of what it gets changes, and the result says nothing of who may do what, or whether anything was appended.
// Prepared must be a copy of which no hook knows: [Message.Clone].
func RestoreOperationalMeta(runtime, prepared Message) Message {
	if runtime.Role != RoleUser || isZero(prepared) {
		return runtime
	}
	if provenanceKind(prepared) != "" {
		runtime = runtime.withProvenance(prepared.provenance())
	}
	if prepared.hidden() {
		runtime.Display = new(bool)
	}
	meta, trusted := runtime.meta(), prepared.meta()
	take(meta, trusted, metaIntent)
	delete(meta, metaSteer)
	if id := strings.TrimSpace(stringOf(trusted[metaSteer])); id != "" && jsontext.UTF16Len(id) <= maxSteerID {
		meta[metaSteer] = jsonText(id)
	}
	if isBool(trusted[metaOwner]) {
		take(meta, trusted, metaOwner)
	}
	if sameContent(runtime, prepared) {
		take(meta, trusted, metaMentions)
	} else {
		delete(meta, metaMentions)
	}
	return runtime.withMeta(meta)
}

// RestoreAdmittedMeta is RestoreOperationalMeta for the host that admits the user's input itself, and protects more of it
// from its hooks: the provenance is that of prepared, or none, and so is the idempotency key, if prepared has one; in
// [Message.Meta], as far as prepared has them, replyToId, replyToPreview (a text of at most 2000 characters, a senderLabel
// of at most 200), transport, lateMedia, media and mediaImageLayout. A senderIdentity stays only if it is that of prepared,
// with the same senderId. It returns false if the message is not a user's any more: such a hook has blocked it.
func RestoreAdmittedMeta(runtime, prepared Message) (Message, bool) {
	if runtime.Role != RoleUser {
		return Message{}, false
	}
	if isZero(prepared) {
		return runtime, true
	}
	runtime = RestoreOperationalMeta(runtime, prepared).withProvenance(prepared.provenance())
	if prepared.IdempotencyKey != "" {
		runtime.IdempotencyKey = prepared.IdempotencyKey
	}
	meta, trusted := runtime.meta(), prepared.meta()
	if id := strings.TrimSpace(stringOf(trusted[metaReplyTo])); id != "" {
		meta[metaReplyTo] = jsonText(id)
	}
	if preview := replyPreview(trusted[metaReplyPreview]); preview != nil {
		meta[metaReplyPreview] = preview
	}
	for name, form := range map[string]byte{metaTransport: '{', metaMedia: '[', metaImageLayout: 0, metaLateMedia: 't'} {
		if value := bytes.TrimSpace(trusted[name]); len(value) > 0 && (form == 0 || value[0] == form) {
			take(meta, trusted, name)
		}
	}
	keepSender(meta, trusted)
	return runtime.withMeta(meta), true
}

// replyPreview is what may be kept of the message to which another one replies, nil for nothing.
func replyPreview(value json.RawMessage) json.RawMessage {
	members := objectOf(value)
	text := utf16Prefix(strings.TrimSpace(stringOf(members["text"])), maxReplyPreview)
	if text == "" {
		return nil
	}
	b := append([]byte(`{"text":`), jsonText(text)...)
	if sender := utf16Prefix(strings.TrimSpace(stringOf(members["senderLabel"])), maxReplySender); sender != "" {
		b = append(append(b, `,"senderLabel":`...), jsonText(sender)...)
	}
	return append(b, '}')
}

// keepSender takes away an identity of the sender that is not the one that the host knows him by.
func keepSender(meta, trusted map[string]json.RawMessage) {
	if !sameJSON(meta[metaSenderIdentity], trusted[metaSenderIdentity]) || !sameJSON(meta[metaSender], trusted[metaSender]) {
		delete(meta, metaSenderIdentity)
	}
}

// take makes a member what it is in another object: absent, if it is so there.
func take(meta, from map[string]json.RawMessage, name string) {
	if value, ok := from[name]; ok {
		meta[name] = bytes.Clone(value)
	} else {
		delete(meta, name)
	}
}

// meta is a copy of Meta, or of what the message will have as such when it is read again: who makes a message can put it
// among Fields, too.
func (m Message) meta() map[string]json.RawMessage {
	meta := maps.Clone(m.Meta)
	if len(meta) == 0 {
		meta = objectOf(m.Fields[metaMember])
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	return meta
}

// withMeta is the message with nothing but meta as its Meta.
func (m Message) withMeta(meta map[string]json.RawMessage) Message {
	m.Meta = meta
	if len(meta) == 0 {
		m.Meta = nil
	}
	return m.withoutField(metaMember)
}

// provenance is Provenance, or what the message will have as such when it is read again.
func (m Message) provenance() json.RawMessage {
	if len(m.Provenance) > 0 {
		return m.Provenance
	}
	return m.Fields[provenanceMember]
}

// withProvenance is the message with that as its provenance, or with none.
func (m Message) withProvenance(provenance json.RawMessage) Message {
	m.Provenance = bytes.Clone(provenance)
	return m.withoutField(provenanceMember)
}

// taints tells that what follows the message in its turn may follow from content of the network.
func (m Message) taints() bool {
	meta := m.meta()
	return string(bytes.TrimSpace(meta[metaTainted])) == "true" || stringOf(meta[metaSource]) == "network"
}

// hidden tells that users are not to be shown the message.
func (m Message) hidden() bool {
	if m.Display != nil {
		return !*m.Display
	}
	return string(bytes.TrimSpace(m.Fields[displayMember])) == "false"
}

func (m Message) withoutField(name string) Message {
	if _, has := m.Fields[name]; has {
		m.Fields = maps.Clone(m.Fields)
		delete(m.Fields, name)
	}
	return m
}

// provenanceKind is the kind of a provenance that is as it should be, or empty.
func provenanceKind(m Message) string {
	switch kind := stringOf(objectOf(m.provenance())["kind"]); kind {
	case "external_user", "inter_session", "internal_system":
		return kind
	}
	return ""
}

func sameContent(a, b Message) bool {
	return sameJSON(contentOf(a), contentOf(b))
}

// contentHash is the same for messages of the same content.
func contentHash(m Message) [sha256.Size]byte { return hashJSON(contentOf(m)) }

func contentOf(m Message) json.RawMessage {
	if m.Content == nil {
		return noContent
	}
	return m.Content
}

// isZero tells that no member of a message is set.
func isZero(m Message) bool { return reflect.ValueOf(m).IsZero() }

// objectOf, stringOf and isBool read a JSON value, and give nothing if it is of another type.
func objectOf(value json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// stringOf is a JSON text that is a string, empty if it is none.
func stringOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

func isBool(value json.RawMessage) bool {
	var is *bool
	return json.Unmarshal(value, &is) == nil && is != nil
}

// utf16Prefix is the start of a text, of at most so many UTF-16 units and whole characters.
func utf16Prefix(text string, limit int) string {
	for i, r := range text {
		if limit--; r > 0xffff {
			limit--
		}
		if limit < 0 {
			return text[:i]
		}
	}
	return text
}
