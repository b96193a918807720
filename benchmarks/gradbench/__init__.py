"""GradBench's workloads in rosejit: `python -m benchmarks.gradbench` answers its protocol, a JSON object a line."""
