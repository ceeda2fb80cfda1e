{{/* Prints an object that people may edit, where there is none of its name; called with a dict {root, kind, name, spec}.
As a hook it is of no release, so that Helm never changes or removes it; as an ordinary object it carries the keep
policy for the same reason. hook-failed replaces Helm's default policy, which deletes before it creates. */}}
{{- define "fairberth.default" -}}
{{- $known := dict }}
{{- if .root.Capabilities.APIVersions.Has (printf "fairberth.io/v1alpha1/%s" .kind) }}
{{- $known = lookup "fairberth.io/v1alpha1" .kind "" .name }}
{{- end }}
{{- if not $known }}
---
apiVersion: fairberth.io/v1alpha1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  labels: {{- include "fairberth.labels" (dict "root" .root "component" "defaults") | nindent 4 }}
  annotations:
    {{- if .root.Values.defaults.asHooks }}
    helm.sh/hook: post-install,post-upgrade
    helm.sh/hook-delete-policy: hook-failed
    {{- else }}
    helm.sh/resource-policy: keep
    {{- end }}
spec: {{- toYaml .spec | nindent 2 }}
{{- end }}
{{- end }}
