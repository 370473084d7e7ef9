package schema
import ("testing";"fmt";"strings";"time")
func TestAdv(t *testing.T){
 rep := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
 gen := func(f string, n int) string { var b strings.Builder; for i:=range n { fmt.Fprintf(&b,f,i)}; return b.String()}
 big := "{"+gen(`"k%d":{"a":[1,2,3]},`,60000)+`"z":1}`
 nested := strings.Repeat(`{"a":`, 9999)+`1`+strings.Repeat(`}`, 9999)
 nestedBig := strings.Repeat(`{"pad":"`+strings.Repeat("p",90)+`","a":`, 9990)+`1`+strings.Repeat(`}`, 9990)
 for _,c := range []struct{n,s,v string}{
  {"trivial allOf", `{"allOf":[`+rep(`{}`,90000)+`]}`, big},
  {"object allOf", `{"allOf":[`+rep(`{"type":"object"}`,90000)+`]}`, big},
  {"props allOf", `{"allOf":[`+rep(`{"properties":{"z":{"type":"integer"}}}`,40000)+`]}`, big},
  {"addl allOf", `{"allOf":[`+rep(`{"additionalProperties":{"type":["object","integer"]}}`,30000)+`]}`, big},
  {"unique allOf", `{"allOf":[`+rep(`{"uniqueItems":true}`,60000)+`]}`, "["+gen("%d,",100000)+`-1]`},
  {"enum allOf", `{"allOf":[`+rep(`{"enum":[{"a":1}]}`,60000)+`]}`, big},
  {"anyOf enum", `{"anyOf":[`+rep(`{"enum":[{"a":1}]}`,60000)+`]}`, big},
  {"anyOf never", `{"anyOf":[`+rep(`{"properties":{"z":false}}`,40000)+`]}`, big},
  {"not chain", `{"properties":{"a":{"$ref":"#"}},"not":{"properties":{"a":{"type":"string"}}}}`, nested},
  {"deep fail", `{"properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}}}}}`, nested},
  {"deep fail big", `{"properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}}}},"additionalProperties":{"type":"string"}}`, nestedBig},
  {"deep unevaluated", `{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":{"type":"string"}}`, nestedBig},
  {"deep uniq", `{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat(`[`, 9999)+strings.Repeat(`]`, 9999)},
  {"deep uniq2", `{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat(`["`+strings.Repeat("x",100)+`",`, 9999)+"1"+strings.Repeat(`]`, 9999)},
  {"contains", `{"contains":{"contains":{"contains":false}}}`, `[`+rep(`[[1],[1],[1]]`,50000)+`]`},
  {"meta allOf", `{"allOf":[`+rep(`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,20000)+`]}`, big},
  {"dup fails", `{"additionalProperties":{"type":"string"}}`, `{`+strings.Repeat(`"a":1,`,100000)+`"a":"x"}`},
  {"dup fails2", `{"additionalProperties":{"type":"string"}}`, `{`+gen(`"a%d":1,`,20000)+gen(`"a%d":"x",`,20000)+`"a":"x"}`},
  {"patterns", `{"patternProperties":{`+gen(`"a%d":true,`,20000)+`"z":true}}`, big},
  {"dependents", `{"dependentRequired":{`+gen(`"k%d":["z"],`,50000)+`"z":[]}}`, big},
  {"dep allOf", `{"allOf":[`+rep(`{"minProperties":3}`,60000)+`]}`, big},
  {"missing", `{"required":[`+gen(`"m%d",`,100000)+`"z"]}`, big},
  {"items required", `{"items":{"required":[`+gen(`"m%d",`,100000)+`"z"]}}`, `[`+rep(`{}`,300000)+`]`},
  {"anyOf items required", `{"items":{"anyOf":[{"required":[`+gen(`"m%d",`,100000)+`"z"]},{}]}}`, `[`+rep(`{}`,300000)+`]`},
  {"items unevaluated notes", `{"items":{"allOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}}`, `[`+rep(`{"a":1,"b":2}`,100000)+`]`},
  {"dyn", `{"$dynamicAnchor":"x","items":{"$dynamicRef":"#x"}}`, strings.Repeat(`[`, 9999)+strings.Repeat(`]`, 9999)},
 }{
  s,err := Parse([]byte(c.s)); if err!=nil { fmt.Println(c.n,err); continue}
  st:=time.Now(); err = s.Validate([]byte(c.v)); fmt.Printf("%-20s %8d %8d %v %.120v\n", c.n, len(c.s), len(c.v), time.Since(st), err)
 }
}
