{{/* Whether the safety net is installed: "true" or "". */}}
{{- define "fairberth.net" -}}
{{- $mode := .Values.admission.mode -}}
{{- if or (eq $mode "policies") (eq $mode "both") -}}
true
{{- else if eq $mode "auto" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
true
{{- end -}}
{{- end -}}
{{- end }}

{{/* Whether the webhook is installed: "true" or "". */}}
{{- define "fairberth.webhook" -}}
{{- if ne .Values.admission.mode "policies" -}}
true
{{- end -}}
{{- end }}

{{/* The selector of tenants' namespaces, without the exempt ones. */}}
{{- define "fairberth.tenantNamespaces" -}}
matchExpressions:
  - { key: fairberth.io/tenant, operator: Exists }
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: {{ append .Values.admission.exemptNamespaces .Release.Namespace | uniq | toJson }}
{{- end }}

{{/* The operator's user name. */}}
{{- define "fairberth.operatorUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:fairberth-operator
{{- end }}

{{/* CEL variables: why the pod is exempt, told by who asks (an owner or an annotation can be forged): daemonset, mirror or "". */}}
{{- define "fairberth.exemptVariables" -}}
- name: mirror
  expression: >-
    "kubernetes.io/config.mirror" in object.metadata.?annotations.orValue({})
    && "system:nodes" in request.userInfo.?groups.orValue([])
- name: exempt
  expression: >-
    request.userInfo.username in {{ toJson .Values.admission.daemonSetUsers }} ? "daemonset"
    : (variables.mirror ? "mirror" : "")
{{- end }}

{{/* CEL: the requester is neither the operator nor one of the trusted. */}}
{{- define "fairberth.stranger" -}}
!(request.userInfo.username in {{ append .Values.admission.trusted.users (include "fairberth.operatorUser" .) | toJson }}
|| request.userInfo.?groups.orValue([]).exists(group, group in {{ toJson .Values.admission.trusted.groups }}))
{{- end }}
