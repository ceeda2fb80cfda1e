{{/* Labels of everything; called with a dict {root, component}. */}}
{{- define "fairberth.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: fairberth
{{ include "fairberth.selector" . }}
{{- end }}

{{/* The labels that select the pods of a component: they never change. */}}
{{- define "fairberth.selector" -}}
app.kubernetes.io/name: fairberth
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Our image. */}}
{{- define "fairberth.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* kube-scheduler's image: of the API server's version, without what a vendor appends (-eks-…, -gke.…, +k3s1). */}}
{{- define "fairberth.schedulerImage" -}}
{{- with .Values.scheduler.image -}}
{{ .repository }}:{{ .tag | default (regexFind "^v[0-9]+\\.[0-9]+\\.[0-9]+" $.Capabilities.KubeVersion.Version) }}
{{- end }}
{{- end }}

{{/* What every container of ours may do: as little as the Pod Security Standard `restricted` asks. */}}
{{- define "fairberth.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "fairberth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532 # so that the mounted certificate can be read
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Where the pods of a component may run; called with a dict {root, component, values}. */}}
{{- define "fairberth.placement" -}}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { {{- include "fairberth.selector" . | replace "\n" ", " -}} } }
{{- end }}
