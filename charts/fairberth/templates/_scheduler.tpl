{{/* The configuration of our kube-scheduler. It reads it once, so its pods carry a checksum of this. */}}
{{- define "fairberth.schedulerConfig" -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
leaderElection:
  leaderElect: true
  resourceLock: leases
  resourceName: fairberth-scheduler # the default is the cluster's own scheduler's
  resourceNamespace: {{ .Release.Namespace }}
clientConnection:
  qps: {{ .Values.scheduler.qps }}
  burst: {{ .Values.scheduler.burst }}
profiles:
  - schedulerName: {{ .Values.scheduler.name }}
    plugins:
      postFilter:
        disabled:
          - name: DefaultPreemption # only the engine evicts
extenders:
  - urlPrefix: http://127.0.0.1:9444
    filterVerb: filter
    prioritizeVerb: prioritize
    weight: {{ .Values.scheduler.extender.weight }}
    httpTimeout: {{ .Values.scheduler.extender.httpTimeout }}
    nodeCacheCapable: true
    ignorable: false
{{- end }}
